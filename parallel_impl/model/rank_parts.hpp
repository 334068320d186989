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
  LocalExtent(const ModelSpec& model, const Mesh& mesh, int samples);

  int samples;
  int rows;        // samples * sequence
  int heads;       // of this rank
  int first_head;  // the first of them
  int head_width;  // heads * head_dim
  int ffn;
};

/// Memory that the backward passes of all layers use in turn; nothing in it outlives a layer.
template <class T>
struct Workspace {
  Workspace(const ModelSpec& model, const LocalExtent& extent, int largest_param, Memory& memory);

  Buffer<T> param_grad;  // of one parameter and micro-batch, before it enters the accumulator
  Buffer<T> branch;      // [rows, hidden]
  Buffer<T> back;        // [rows, hidden]
  Buffer<T> partial;     // [rows, hidden]
  Buffer<T> grad_context, grad_q, grad_k, grad_v;  // [rows, head_width]
  Buffer<T> grad_scores;                           // [samples * heads * sequence, sequence]
  Buffer<T> grad_ffn;                              // [rows, ffn]
};

/// Everything referenced outlives the layers.
template <class T>
struct RankParts {
  const ModelSpec& model;
  const Mesh& mesh;
  Backend<T>& backend;
  Comm& comm;
  CommGroup tp;
  ActivationRecords<T>& records;
  KeepWords& words;
  FaultPlan& faults;
  BoardWriter* board;
  LocalExtent extent;
  Workspace<T>& work;

  void beat() const {
    if (board != nullptr) {
      board->beat(mesh.rank());
    }
  }
};

/// Part -> Rep: the sum over the tensor-parallel group, in its canonical order. With ranks holding
/// (1, 2) and (10, 20), both end with (11, 22).
template <class T>
void sum_over_tp(RankParts<T>& parts, Tensor<T>& values, const Site& site) {
  values.demand(part());
  parts.comm.all_reduce(parts.tp, values.span(), ReduceOp::sum, site);
  values.tp = rep();
}

inline Site site_in(const BatchPlace& place, int layer, std::string role, std::string phase) {
  return {layer, std::move(role), std::move(phase), place.step, place.mb};
}

/// accumulator += this micro-batch's gradient, which lies in the workspace, summed from zero.
template <class T>
void add_param_grad(RankParts<T>& parts, Param<T>& param) {
  parts.backend.run(AddInto<T>{parts.work.param_grad.data(), param.grad.data(), param.count()});
}

}  // namespace meshparity
