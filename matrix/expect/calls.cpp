#include "matrix/expect/calls.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "fixtures/element_type.hpp"
#include "fixtures/loss_scaling.hpp"
#include "matrix/expect/groups.hpp"
#include "matrix/expect/record_parts.hpp"

namespace meshparity::expect {
namespace {

// An exact sum of doubles: 68 limbs of 32 bits hold every exponent from -1088 up, then a count each
// of NaN and of the two infinities.
constexpr std::int64_t kExactSumIntegers = 68 + 3;

struct Site {
  int layer = -1;
  std::string role;
  std::string phase;
};

class CallList {
 public:
  CallList(const Layout& layout, Level level, int rank)
      : layout_(layout),
        level_(level),
        rank_(rank),
        tp_(group_along(layout.spec, rank, std::array{Axis::tp})),
        dp_(group_along(layout.spec, rank, std::array{Axis::dp})),
        key_heads_(same_key_heads(layout.spec, layout.model, rank)),
        type_(layout.spec.precision == Precision::fp64 ? ElementType::float64
                                                       : ElementType::float32),
        tokens_(rows_of_micro_batch(layout)),
        activation_(tokens_ * layout.model.hidden) {}

  std::vector<CollectiveRow> all_steps() {
    for (step_ = 0; step_ < layout_.spec.steps; ++step_) {
      mb_ = 0;
      if (is_probe(layout_.spec)) {
        gradient_sums();
      } else {
        training_step();
      }
    }
    return std::move(rows_);
  }

 private:
  void training_step() {
    for (mb_ = 0; mb_ < layout_.spec.micro_batches; ++mb_) {
      forward();
      backward();
    }
    mb_ = 0;
    add("all_reduce", dp_, {-1, "tokens", "scalar"}, kExactSumIntegers + 1, ElementType::int64);
    gradient_sums();
    const bool skipped = is_skipped(layout_.spec, step_);
    if (layout_.spec.loss_scaling) {
      add("all_reduce", tp_, {-1, "found_inf", "scalar"}, 1, ElementType::int64);
    }
    if (!skipped) {
      add("all_reduce", tp_, {-1, "norm", "scalar"}, kExactSumIntegers, ElementType::int64);
    }
  }

  void forward() {
    leave({-1, "embed", "forward"});
    for (int layer = 0; layer < layout_.model.layers; ++layer) {
      enter({layer, "attn.qkv", "forward"});
      leave({layer, "attn.out", "forward"});
      enter({layer, "mlp.up", "forward"});
      leave({layer, "mlp.down", "forward"});
    }
    enter({-1, "head", "forward"});
    const bool smooth = layout_.spec.smoothing;
    add("all_reduce", tp_, {-1, "loss.max", "forward"}, tokens_, type_);
    add("all_reduce", tp_, {-1, "loss.target", "forward"}, tokens_, type_);
    add("all_reduce", tp_, {-1, "loss.sum", "forward"}, smooth ? 2 * tokens_ : tokens_, type_);
  }

  void backward() {
    enter({-1, "head.input", "backward"});
    leave({-1, "head", "backward"});
    for (int layer = layout_.model.layers - 1; layer >= 0; --layer) {
      enter({layer, "mlp.down", "backward"});
      enter({layer, "mlp.up.input", "backward"});
      leave({layer, "mlp.up", "backward"});
      enter({layer, "attn.out", "backward"});
      key_head_records(layer);
      enter({layer, "attn.qkv.input", "backward"});
      leave({layer, "attn.qkv", "backward"});
    }
    enter({-1, "embed", "backward"});
  }

  /// Into a tensor-parallel region: nothing to do unless rows are cut, and then a gather of them.
  void enter(const Site& site) {
    if (layout_.spec.sequence_parallel) {
      add("all_gather", tp_, site, activation_, type_);
    }
  }
  /// Out of it: a sum, which every rank keeps whole or a share of.
  void leave(const Site& site) {
    const char* kind = layout_.spec.sequence_parallel ? "reduce_scatter" : "all_reduce";
    add(kind, tp_, site, activation_, type_);
  }

  void key_head_records(int layer) {
    const ModelSpec& model = layout_.model;
    if (level_ != Level::all || is_skipped(layout_.spec, step_)) {
      return;
    }
    const bool projected = model.qk_norm || model.positions == Positions::rope;
    const std::int64_t count = tokens_ * model.head_dim;  // one key head a rank
    add("all_reduce", key_heads_, {layer, "record.v", "backward"}, count, type_);
    add("all_reduce", key_heads_, {layer, "record.k", "backward"}, count, type_);
    if (projected) {
      add("all_reduce", key_heads_, {layer, "record.k_proj", "backward"}, count, type_);
    }
  }

  void gradient_sums() {
    std::int64_t of_key_heads = 0, partial = 0;
    for (const ParamSpec& param : param_table(layout_.model)) {
      const ParamPart part = part_of(param, layout_, rank_);
      add("all_reduce", dp_, {param.layer, "grad.dp", "grad"}, part.in_memory, type_);
      of_key_heads += part.copies > 1 ? part.in_memory : 0;
      partial += part.partial ? part.in_memory : 0;
    }
    const char* role = layout_.spec.sequence_parallel ? "grad.sp" : "grad.tp";
    if (of_key_heads > 0) {
      add("all_reduce", key_heads_, {-1, "grad.kv", "grad"}, of_key_heads, type_);
    }
    if (partial > 0) {
      add("all_reduce", tp_, {-1, role, "grad"}, partial, type_);
    }
  }

  void add(const char* kind, const Group& group, const Site& site, std::int64_t count,
           ElementType type) {
    if (group.size() == 1) {
      return;
    }
    CollectiveRow row;
    row.sequence = static_cast<std::int64_t>(rows_.size()) + 1;
    row.site = site.layer < 0 ? fmt::format("{}/{}", site.role, site.phase)
                              : fmt::format("layer{}.{}/{}", site.layer, site.role, site.phase);
    row.kind = kind;
    row.axis = group.axes;
    row.group = group.text();
    row.count = count;
    row.type = element_type_name(type);
    row.bytes = count * static_cast<std::int64_t>(element_bytes(type));
    row.phase = site.phase;
    row.step = step_;
    row.mb = mb_;
    rows_.push_back(std::move(row));
  }

  const Layout& layout_;
  Level level_;
  int rank_;
  Group tp_, dp_, key_heads_;
  ElementType type_;
  std::int64_t tokens_;      // of a micro-batch on a replica
  std::int64_t activation_;  // elements of [tokens, hidden]
  int step_ = 0, mb_ = 0;
  std::vector<CollectiveRow> rows_;
};

}  // namespace

std::optional<std::string> why_no_calls(const CaseSpec& spec) {
  const auto missing = [](const std::string& what) {
    return fmt::format("no expectation for {} yet", what);
  };
  for (const Axis axis : {Axis::pp, Axis::cp, Axis::ep, Axis::etp}) {
    if (spec.mesh.degree(axis) > 1) {
      return missing(fmt::format("{}{}", axis_name(axis), spec.mesh.degree(axis)));
    }
  }
  if (spec.zero_stage > 0 || spec.bucket_kibi_elements > 0 || spec.gradcomm_bf16) {
    return missing("ZeRO, buckets and rounded gradients");
  }
  if (spec.recompute != Recompute::none || spec.master64) {
    return missing("recomputation and master copies");
  }
  if (spec.precision != Precision::fp64 && spec.precision != Precision::fp32) {
    return missing(std::string(precision_name(spec.precision)));
  }
  for (const Event& event : spec.events) {
    if (event.kind != Event::Kind::probe && event.kind != Event::Kind::fault) {
      return missing("a run that is interrupted");
    }
  }
  return std::nullopt;
}

std::vector<CollectiveRow> calls_of(const Layout& layout, Level level, int rank) {
  return CallList(layout, level, rank).all_steps();
}

std::string call_text(const CollectiveRow& row) {
  return fmt::format("{} of {} {} at {} mb {} in {} group {}", row.kind, row.count, row.type,
                     row.site, row.mb, row.axis, row.group);
}

}  // namespace meshparity::expect
