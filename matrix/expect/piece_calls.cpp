#include "matrix/expect/piece_calls.hpp"

#include <array>

#include "fixtures/element_type.hpp"
#include "fixtures/loss_scaling.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/schedule.hpp"

namespace meshparity::expect {

PieceCalls::PieceCalls(const Layout& layout, Level level, int rank, CallSink& sink)
    : layout_(layout),
      spec_(layout.spec),
      level_(level),
      sink_(sink),
      tp_(group_along(spec_, rank, std::array{Axis::tp})),
      key_heads_(same_key_heads(spec_, layout.model, rank)),
      type_(number_type(spec_)),
      tokens_(rows_of_micro_batch(layout)),
      activation_(tokens_ * layout.model.hidden),
      weights_here_(!is_split(spec_.schedule)) {}

void PieceCalls::forward(int piece) {
  if (piece == 0) {
    return leave({-1, "embed", "forward"});
  }
  if (piece <= layout_.model.layers) {
    return block(piece - 1, "forward");
  }
  const std::int64_t sums = spec_.smoothing ? 2 * tokens_ : tokens_;
  enter({-1, "head", "forward"});
  sink_.add("all_reduce", tp_, {-1, "loss.max", "forward"}, tokens_, type_);
  sink_.add("all_reduce", tp_, {-1, "loss.target", "forward"}, tokens_, type_);
  sink_.add("all_reduce", tp_, {-1, "loss.sum", "forward"}, sums, type_);
}

void PieceCalls::backward(int piece, int step) {
  if (piece == 0) {
    return enter({-1, "embed", "backward"});
  }
  if (piece <= layout_.model.layers) {
    return block_backward(piece - 1, step);
  }
  if (weights_here_) {
    weights(piece);
  }
  leave({-1, "head", "backward"});
}

void PieceCalls::weights(int piece) {
  if (piece == 0) {
    return;
  }
  if (piece > layout_.model.layers) {
    return enter({-1, "head.input", "backward"});
  }
  enter({piece - 1, "mlp.up.input", "backward"});
  enter({piece - 1, "attn.qkv.input", "backward"});
}

void PieceCalls::block(int layer, const char* phase) {
  enter({layer, "attn.qkv", phase});
  leave({layer, "attn.out", phase});
  enter({layer, "mlp.up", phase});
  leave({layer, "mlp.down", phase});
}

void PieceCalls::block_backward(int layer, int step) {
  if (spec_.recompute == Recompute::full) {
    block(layer, "recompute");
  }
  enter({layer, "mlp.down", "backward"});
  if (weights_here_) {
    enter({layer, "mlp.up.input", "backward"});
  }
  leave({layer, "mlp.up", "backward"});
  enter({layer, "attn.out", "backward"});
  key_head_records(layer, step);
  if (weights_here_) {
    enter({layer, "attn.qkv.input", "backward"});
  }
  leave({layer, "attn.qkv", "backward"});
}

void PieceCalls::key_head_records(int layer, int step) {
  const ModelSpec& model = layout_.model;
  if (level_ != Level::all || is_skipped(spec_, step)) {
    return;
  }
  const bool projected = model.qk_norm || model.positions == Positions::rope;
  const std::int64_t count = tokens_ * model.head_dim;  // one key head a rank
  sink_.add("all_reduce", key_heads_, {layer, "record.v", "backward"}, count, type_);
  sink_.add("all_reduce", key_heads_, {layer, "record.k", "backward"}, count, type_);
  if (projected) {
    sink_.add("all_reduce", key_heads_, {layer, "record.k_proj", "backward"}, count, type_);
  }
}

/// Into a tensor-parallel region: nothing to do unless rows are cut, and then a gather of them.
void PieceCalls::enter(const CallSite& site) {
  if (spec_.sequence_parallel) {
    sink_.add("all_gather", tp_, site, activation_, type_);
  }
}

/// Out of it: a sum, which every rank keeps whole or a share of.
void PieceCalls::leave(const CallSite& site) {
  const char* kind = spec_.sequence_parallel ? "reduce_scatter" : "all_reduce";
  sink_.add(kind, tp_, site, activation_, type_);
}

ElementType number_type(const CaseSpec& spec) {
  return spec.precision == Precision::fp64 ? ElementType::float64 : ElementType::float32;
}

}  // namespace meshparity::expect
