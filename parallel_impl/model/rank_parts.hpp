// What the layers of one rank work with: its machine, its groups, its records, room for gradients.
#pragma once
#include <string>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/board.hpp"
#include "fixtures/model_spec.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/activation_records.hpp"
#include "parallel_impl/model/keep_words.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/model/placement.hpp"

namespace meshparity {

/// How much of a micro-batch's work lies on this rank.
struct LocalExtent {
  /// `cuts_rows`: the case has sequence parallelism.
  LocalExtent(const ModelSpec& model, const Mesh& mesh, bool cuts_rows, int samples);

  int samples;
  int rows;         // samples * sequence
  bool cuts_rows;   // between tensor-parallel regions a rank holds `stream` of these rows only
  RowRange stream;  // all rows unless cuts_rows
  int heads;        // of this rank
  int first_head;   // the first of them
  int head_width;   // heads * head_dim
  int kv_heads;     // that they read, one at least
  int kv_copies;    // ranks in a row that hold the same ones
  int kv_width;     // kv_heads * head_dim
  int ffn;
};

/// Memory that the backward passes of all layers use in turn; nothing in it outlives a layer.
template <class T>
struct Workspace {
  Workspace(const ModelSpec& model, const LocalExtent& extent, int largest_param, Memory& memory);

  Buffer<T> param_grad;  // of one parameter and micro-batch, before it enters the accumulator
  Buffer<T> branch;      // [stream rows, hidden]
  Buffer<T> back;        // [stream rows, hidden]
  Buffer<T> partial;     // [rows, hidden]
  Buffer<T> whole, gathered, gathered_grad;  // [rows, hidden] where rows are cut, else empty
  Buffer<T> grad_context, grad_q;            // [rows, head_width]
  Buffer<T> grad_k, grad_v, kv_sum;          // [rows, kv_width]
  Buffer<T> grad_scores;                     // [samples * heads * sequence, sequence]
  Buffer<T> grad_ffn;                        // [rows, ffn]
  Buffer<T> grad_gate;                       // [rows, ffn], with a gate only
};

/// Of the tensor-parallel group, the ranks in a row that hold the same key heads: with 2 copies,
/// ranks 4 and 5 of 8.
CommGroup kv_group(const CommGroup& tp, int kv_copies);

/// Everything referenced outlives the layers.
template <class T>
struct RankParts {
  const ModelSpec& model;
  const Mesh& mesh;
  Backend<T>& backend;
  Comm& comm;
  CommGroup tp;
  CommGroup kv;  // the ranks of tp that hold the same key heads as this one
  ActivationRecords<T>& records;
  KeepWords& words;
  FaultPlan& faults;
  BoardWriter* board;
  LocalExtent extent;
  Workspace<T>& work;
  /// Of a micro-batch's parameter gradients before they enter the accumulators: its tokens where
  /// the loss is a mean of means, else 1.
  T grad_divisor = 1;

  /// Of the activations between tensor-parallel regions.
  TpState stream() const { return extent.cuts_rows ? shard(0) : rep(); }
  std::int64_t stream_count() const {
    return static_cast<std::int64_t>(extent.stream.count) * model.hidden;
  }
  void beat() const {
    if (board != nullptr) {
      board->beat(mesh.rank());
    }
  }
};

inline Site site_in(const BatchPlace& place, int layer, std::string role, std::string phase) {
  return {layer, std::move(role), std::move(phase), place.step, place.mb};
}

/// accumulator += this micro-batch's gradient, summed from zero, over grad_divisor.
template <class T>
void add_param_grad(RankParts<T>& parts, Param<T>& param, const T* of_micro_batch) {
  parts.backend.run(
      AddQuotient<T>{of_micro_batch, param.grad, param.count(), parts.grad_divisor});
}
/// It lies in the workspace.
template <class T>
void add_param_grad(RankParts<T>& parts, Param<T>& param) {
  add_param_grad<T>(parts, param, parts.work.param_grad.data());
}

}  // namespace meshparity
