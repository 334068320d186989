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
#include "parallel_impl/model/value_gather.hpp"

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

/// Under which tags a layer's tensors stay between its passes: until the gradient of its input is
/// known, and until that of its weights is (algorithms.md §3.1).
struct SavedTags {
  MemoryTag until_input_grad = MemoryTag::activation_B;
  MemoryTag until_weight_grad = MemoryTag::activation_W;
};

/// Memory that the passes of all layers use in turn; nothing in it outlives a layer.
template <class T>
struct Workspace {
  /// `drops_scores`: attention's probabilities lie here and are computed again when needed.
  Workspace(const ModelSpec& model, const LocalExtent& extent, int largest_param, Memory& memory,
            bool drops_scores = false);

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
  Buffer<T> probs, sink_probs;               // as attention keeps them, where it does not
  WordBuffer words;                          // for them
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
  /// The schedule takes gradients of weights apart from those of inputs.
  bool splits_backward = false;
  Recompute recompute = Recompute::none;
  ValueGather<T>* values = nullptr;  // null in unit tests: values are always there
  /// A forward pass that repeats one for its backward pass: it records nothing.
  bool repeats = false;
  /// What passes from one operation to another is rounded to bfloat16.
  bool is_short = false;

  /// Of the activations between tensor-parallel regions.
  TpState stream() const { return extent.cuts_rows ? shard(0) : rep(); }
  std::int64_t stream_count() const {
    return static_cast<std::int64_t>(extent.stream.count) * model.hidden;
  }
  /// What an operation made leaves it.
  void pass_on(const Tensor<T>& made) const {
    if (is_short) {
      backend.run(RoundedCopy<T>{made.data, made.data, made.count()});
    }
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
/// Of a forward pass: phase "recompute" where it repeats one.
template <class T>
Site forward_site(const RankParts<T>& parts, const BatchPlace& place, int layer, std::string role) {
  return site_in(place, layer, std::move(role), parts.repeats ? "recompute" : "forward");
}

/// Where a gradient lies that only the weights' gradients read after its layer: its own room if it
/// has any, else the workspace.
template <class T>
Buffer<T>& own_or(Buffer<T>& own, Buffer<T>& work) {
  return own.count() > 0 ? own : work;
}

/// accumulator += this micro-batch's gradient, summed from zero, over grad_divisor.
template <class T>
void add_param_grad(RankParts<T>& parts, Param<T>& param, const T* of_micro_batch) {
  parts.backend.run(AddQuotient<T>{of_micro_batch, param.grad, param.count(), parts.grad_divisor});
}
/// It lies in the workspace.
template <class T>
void add_param_grad(RankParts<T>& parts, Param<T>& param) {
  add_param_grad<T>(parts, param, parts.work.param_grad.data());
}

}  // namespace meshparity
