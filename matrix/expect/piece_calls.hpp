// The collectives of tensor and sequence parallelism inside one piece of the model: embedding, a
// block, the head (algorithms.md §1.8, §2, §10.1).
#pragma once
#include "matrix/expect/call_sink.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Calls of one micro-batch; which one, and in which step, the sink knows. Level all asks for sums
/// of shared key heads besides, except in a step that is skipped.
class PieceCalls {
 public:
  PieceCalls(const Layout& layout, Level level, int rank, CallSink& sink);

  void forward(int piece);
  /// The gradient of the piece's input, and in schedules that do not split it that of the weights.
  void backward(int piece, int step);
  /// With sequence parallelism the inputs of column-parallel linears and of the head are gathered
  /// again for the gradients of their weights.
  void weights(int piece);

 private:
  void block(int layer, const char* phase);
  void block_backward(int layer, int step);
  void key_head_records(int layer, int step);
  void enter(const CallSite& site);
  void leave(const CallSite& site);

  const Layout& layout_;
  const CaseSpec& spec_;
  Level level_;
  CallSink& sink_;
  Group tp_, key_heads_;
  ElementType type_;
  std::int64_t tokens_;      // of a micro-batch on a replica
  std::int64_t activation_;  // elements of [tokens, hidden]
  bool weights_here_;        // in the backward pass itself
};

/// Of the case's numbers.
ElementType number_type(const CaseSpec& spec);

}  // namespace meshparity::expect
