#include "matrix/expect/calls.hpp"

#include <algorithm>
#include <array>

#include "fixtures/loss_scaling.hpp"
#include "matrix/expect/call_sink.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/groups.hpp"
#include "matrix/expect/piece_calls.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/shards.hpp"
#include "matrix/expect/simulate.hpp"
#include "matrix/expect/stages.hpp"
#include "matrix/expect/tied.hpp"

namespace meshparity::expect {
namespace {

// An exact sum of doubles: 68 limbs of 32 bits hold every exponent from -1088 up, then a count each
// of NaN and of the two infinities.
constexpr std::int64_t kExactSumIntegers = 68 + 3;

/// What a rank does with what it has of a model: its actions in order, and their calls.
class CallList {
 public:
  CallList(const Layout& layout, Level level, int rank)
      : layout_(layout),
        spec_(layout.spec),
        rank_(rank),
        tp_(group_along(spec_, rank, std::array{Axis::tp})),
        dp_(group_along(spec_, rank, std::array{Axis::dp})),
        pp_(group_along(spec_, rank, std::array{Axis::pp})),
        params_(params_of(layout, rank)),
        owned_(params_.size()),
        buckets_(buckets_of(layout, rank)),
        type_(number_type(spec_)),
        payload_(spec_.gradcomm_bf16 ? ElementType::bfloat16 : type_),
        sink_(spec_),
        pieces_(layout, level, rank, sink_) {
    std::transform(params_.begin(), params_.end(), owned_.begin(),
                   [&](const ParamSpec& param) { return shard_of(param, layout, rank).count(); });
  }

  std::vector<CollectiveRow> all_steps() {
    const auto stage = static_cast<std::size_t>(stage_of(spec_, rank_));
    if (is_probe(spec_)) {
      return all_probes();
    }
    const ActionList actions = actions_due(spec_).at(stage);
    const int lists = is_stream(spec_.schedule) ? 1 : spec_.steps;
    for (int list = 0; list < lists; ++list) {
      for (const Action& action : actions) {
        begin(action);
        enter_action(action);
      }
    }
    if (is_stream(spec_.schedule)) {
      sink_.begin(updates_ - 1, 0);
      sink_.add("all_reduce", replicas(), {-1, "loss", "scalar"}, updates_ * kExactSumIntegers,
                ElementType::int64);
    }
    return sink_.take();
  }

 private:
  /// With their stages: all who know something of losses.
  Group replicas() const { return group_along(spec_, rank_, std::array{Axis::dp, Axis::pp}); }

  /// Step and micro-batch of the records that the action is about. A stream has several steps under
  /// way, a reduce or step is of the oldest.
  void begin(const Action& action) {
    const int of_step = micro_batches_of_step(spec_);
    const bool is_placed = is_stream(spec_.schedule) && action.mb >= 0;
    step_ = is_placed ? action.mb / of_step : updates_;
    updates_ += action.kind == ActionKind::step ? 1 : 0;
    sink_.begin(step_, action.mb < 0 ? 0 : action.mb % of_step);
  }

  std::vector<CollectiveRow> all_probes() {
    for (int step = 0; step < spec_.steps; ++step) {
      sink_.begin(step, 0);
      probe();
    }
    return sink_.take();
  }

  void probe() {
    const std::vector<int> chunks = chunks_of_stage(spec_, stage_of(spec_, rank_));
    for (const int chunk : chunks) {
      const Pieces pieces = pieces_of_chunk(layout_, chunk);
      for (int piece = pieces.first; piece < pieces.end(); ++piece) {
        gather(piece, "forward");
      }
    }
    for (const int chunk : chunks) {
      scatter(chunk);
    }
    if (spec_.zero_stage < 2) {
      sums_of_replicas();
    }
    sums_of_tensor_ranks();
    new_values();
  }

  void enter_action(const Action& action) {
    switch (action.kind) {
      case ActionKind::forward:
        return forward(action.chunk);
      case ActionKind::backward:
        return backward(action.chunk);
      case ActionKind::weights:
        return weight_gradients(action.chunk);
      case ActionKind::send_forward:
        return message("send", {-1, "pp.activation", "forward"});
      case ActionKind::receive_forward:
        return message("receive", {-1, "pp.activation", "forward"});
      case ActionKind::send_backward:
        return message("send", {-1, "pp.gradient", "backward"});
      case ActionKind::receive_backward:
        return message("receive", {-1, "pp.gradient", "backward"});
      case ActionKind::reduce:
        return reduce();
      case ActionKind::step:
        return update();
    }
  }

  /// The rank's rows of the stream: with sequence parallelism its own.
  void message(const char* kind, const CallSite& site) {
    const std::int64_t tokens = rows_of_micro_batch(layout_);
    const int index = coordinate_on(spec_, rank_, Axis::tp);
    const std::int64_t rows = spec_.sequence_parallel
                                  ? share_of(tokens, spec_.mesh.degree(Axis::tp), index).count
                                  : tokens;
    sink_.add(kind, pp_, site, rows * layout_.model.hidden, type_);
  }

  /// With zero3 the values of the next piece are asked for before the work of this one.
  void forward(int chunk) {
    const Pieces pieces = pieces_of_chunk(layout_, chunk);
    gather(pieces.first, "forward");
    for (int piece = pieces.first; piece < pieces.end(); ++piece) {
      if (piece + 1 < pieces.end()) {
        gather(piece + 1, "forward");
      }
      pieces_.forward(piece);
    }
  }

  void backward(int chunk) {
    const Pieces pieces = pieces_of_chunk(layout_, chunk);
    gather(pieces.end() - 1, "backward");
    for (int piece = pieces.end() - 1; piece >= pieces.first; --piece) {
      if (piece > pieces.first) {
        gather(piece - 1, "backward");
      }
      pieces_.backward(piece, step_);
    }
    if (!is_split(spec_.schedule)) {
      scatter(chunk);
    }
  }

  void weight_gradients(int chunk) {
    const Pieces pieces = pieces_of_chunk(layout_, chunk);
    for (int piece = pieces.end() - 1; piece >= pieces.first; --piece) {
      pieces_.weights(piece);
    }
    scatter(chunk);
  }

  /// The values of a piece, whole.
  void gather(int piece, const char* phase) {
    for (const Bucket& bucket : buckets_) {
      if (spec_.zero_stage == 3 && bucket.piece == piece) {
        sink_.add("all_gather", dp_, {-1, "param.dp", phase}, bucket.in_memory, type_);
      }
    }
  }

  /// The sums of a chunk's gradients of one micro-batch, a share for each replica.
  void scatter(int chunk) {
    for (const Bucket& bucket : buckets_) {
      if (spec_.zero_stage >= 2 && bucket.chunk == chunk) {
        sink_.add("reduce_scatter", dp_, {-1, "grad.dp", "grad"}, bucket.in_memory, payload_);
      }
    }
  }

  void reduce() {
    if (is_stream(spec_.schedule)) {
      sink_.add("all_reduce", dp_, {-1, "tokens", "scalar"}, 1, ElementType::int64);
    } else {
      sink_.add("all_reduce", replicas(), {-1, "tokens", "scalar"}, kExactSumIntegers + 1,
                ElementType::int64);
    }
    if (spec_.zero_stage < 2) {
      sums_of_replicas();
    }
    sums_of_tensor_ranks();
  }

  void sums_of_replicas() {
    const bool is_of_param = spec_.zero_stage == 0 && spec_.bucket_kibi_elements == 0;
    const char* kind = spec_.zero_stage == 0 ? "all_reduce" : "reduce_scatter";
    for (const Bucket& bucket : buckets_) {
      const int layer = is_of_param ? bucket.layer : -1;
      sink_.add(kind, dp_, {layer, "grad.dp", "grad"}, bucket.in_memory, payload_);
    }
  }

  void sums_of_tensor_ranks() {
    std::int64_t of_key_heads = 0, partial = 0;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const ParamPart part = part_of(params_[i], layout_, rank_);
      of_key_heads += part.copies > 1 ? owned_[i] : 0;
      partial += part.partial ? owned_[i] : 0;
    }
    const char* role = spec_.sequence_parallel ? "grad.sp" : "grad.tp";
    if (of_key_heads > 0) {
      const Group same = same_key_heads(spec_, layout_.model, rank_);
      sink_.add("all_reduce", same, {-1, "grad.kv", "grad"}, of_key_heads, type_);
    }
    if (partial > 0) {
      sink_.add("all_reduce", tp_, {-1, role, "grad"}, partial, type_);
    }
  }

  void update() {
    const Group all = spec_.zero_stage > 0
                          ? group_along(spec_, rank_, std::array{Axis::dp, Axis::tp, Axis::pp})
                          : group_along(spec_, rank_, std::array{Axis::tp, Axis::pp});
    if (spec_.loss_scaling) {
      sink_.add("all_reduce", all, {-1, "found_inf", "scalar"}, 1, ElementType::int64);
    }
    if (is_skipped(spec_, step_) || is_stream(spec_.schedule)) {
      return;
    }
    tied_sum();
    sink_.add("all_reduce", all, {-1, "norm", "scalar"}, kExactSumIntegers, ElementType::int64);
    new_values();
  }

  /// The two gradients of a tied weight, where two stages hold a copy each.
  void tied_sum() {
    const Group copies = tied_copies(layout_, rank_);
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (is_tied(params_[i], layout_.model) && owned_[i] > 0) {
        sink_.add("all_reduce", copies, {-1, "grad.tied", "grad"}, owned_[i], type_);
      }
    }
  }

  void new_values() {
    for (const Bucket& bucket : buckets_) {
      if ((spec_.zero_stage == 1 || spec_.zero_stage == 2) && !bucket.is_copy) {
        sink_.add("all_gather", dp_, {-1, "param.dp", "update"}, bucket.in_memory, type_);
      }
    }
  }

  const Layout& layout_;
  const CaseSpec& spec_;
  int rank_;
  Group tp_, dp_, pp_;
  std::vector<ParamSpec> params_;    // that the rank holds
  std::vector<std::int64_t> owned_;  // elements of each that its replica owns
  std::vector<Bucket> buckets_;
  ElementType type_;
  ElementType payload_;  // of gradients between replicas
  CallSink sink_;
  PieceCalls pieces_;
  int step_ = 0;
  int updates_ = 0;
};

}  // namespace

std::vector<CollectiveRow> calls_of(const Layout& layout, Level level, int rank) {
  return CallList(layout, level, rank).all_steps();
}

}  // namespace meshparity::expect
