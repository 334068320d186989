#include "matrix/expect/traffic.hpp"

#include <algorithm>
#include <utility>

#include "matrix/expect/grid.hpp"
#include "matrix/expect/groups.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/schedule.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

constexpr std::int64_t kExactSum = 71;  // integers
constexpr std::int64_t kIntegerBytes = 8;

/// The model's extents as the formulas write them, and what one rank of t has of them.
struct Extents {
  explicit Extents(const Layout& layout)
      : t(layout.spec.mesh.degree(Axis::tp)),
        h(layout.model.hidden),
        f(layout.model.ffn / t),
        d(layout.model.head_dim),
        queries(std::int64_t{layout.model.heads} / t * d),
        keys(std::max<std::int64_t>(1, layout.model.kv_heads / t) * d),
        vocabulary(layout.model.padded_vocabulary / t),
        bias(layout.model.biases ? 1 : 0),
        norm(layout.model.norm == Norm::layernorm ? 1 + bias : 1),
        gates(layout.model.activation == Activation::swiglu ? 1 : 0),
        head_norms(layout.model.qk_norm ? 2 : 0),
        number_bytes(layout.spec.precision == Precision::fp64 ? 8 : 4),
        gradient_bytes(layout.spec.gradcomm_bf16 ? 2 : number_bytes) {}

  std::int64_t t, h, f, d, queries, keys, vocabulary;
  std::int64_t bias;        // vectors beside a weight: 0 or 1
  std::int64_t norm;        // vectors of a norm: 1 or 2
  std::int64_t gates;       // beside `up`: 0 or 1
  std::int64_t head_norms;  // of query and key heads: 0 or 2
  std::int64_t number_bytes;
  std::int64_t gradient_bytes;  // on their way between replicas
};

void add(AxisTraffic& traffic, std::int64_t calls, std::int64_t numbers, std::int64_t bytes) {
  traffic.calls += calls;
  traffic.bytes += numbers * bytes;
}

std::int64_t block_numbers(const Extents& x, bool has_sink, std::int64_t heads) {
  const std::int64_t projections = (x.h + x.bias) * (x.queries + 2 * x.keys);
  const std::int64_t out = x.queries * x.h + x.bias * x.h;
  const std::int64_t mlp = (x.h + x.bias) * (1 + x.gates) * x.f + x.f * x.h + x.bias * x.h;
  return 2 * x.norm * x.h + projections + x.head_norms * x.d + (has_sink ? heads / x.t : 0) + out +
         mlp;
}

std::int64_t block_tensors(const Extents& x, bool has_sink) {
  return 2 * x.norm + (6 + x.gates) * (1 + x.bias) + x.head_norms + (has_sink ? 1 : 0);
}

class ClosedForm {
 public:
  ClosedForm(const Layout& layout, int rank, std::string axes)
      : spec_(layout.spec),
        model_(layout.model),
        x_(layout),
        m_(micro_batches_of_step(spec_)),
        tokens_(rows_of_micro_batch(layout)),
        total_{std::move(axes), 0, 0} {
    const std::vector<int> pieces = pieces_of_stage(layout, stage_of(spec_, rank));
    embedding_ = std::count(pieces.begin(), pieces.end(), 0);
    head_ = std::count(pieces.begin(), pieces.end(), piece_count(model_) - 1);
    blocks_ = std::ssize(pieces) - embedding_ - head_;
    const int index = coordinate_on(spec_, rank, Axis::tp);
    replica_ = coordinate_on(spec_, rank, Axis::dp);
    own_rows_ = spec_.sequence_parallel
                    ? share_of(tokens_, spec_.mesh.degree(Axis::tp), index).count
                    : tokens_;
    for (const int chunk : chunks_of_stage(spec_, stage_of(spec_, rank))) {
      for (const int next : {chunk - 1, chunk + 1}) {
        const bool is_other = next >= 0 && next < chunk_count(spec_) &&
                              stage_of_chunk(spec_, next) != stage_of_chunk(spec_, chunk);
        borders_ += is_other ? 1 : 0;
      }
    }
  }

  AxisTraffic all() {
    const bool zero = spec_.zero_stage > 0;
    const bool meet = !is_stream(spec_.schedule);
    integers(zero ? "dp,tp,pp" : "tp,pp", meet ? kExactSum : 0);
    integers(zero ? "dp,tp,pp" : "tp,pp", spec_.loss_scaling ? 1 : 0);
    integers(meet ? "dp,pp" : "dp", meet ? kExactSum + 1 : 1);
    if (total_.axis == "tp") {
      inside_pieces();
      sums_over_tp();
    } else if (total_.axis == "dp") {
      over_replicas();
    } else if (total_.axis == "pp") {
      between_stages();
    }
    return total_;
  }

 private:
  void add_numbers(std::int64_t calls, std::int64_t numbers) {
    add(total_, calls, numbers, x_.number_bytes);
  }
  void integers(const std::string& axes, std::int64_t count) {
    if (count > 0 && axes_that_cut(spec_, axes) == total_.axis) {
      add(total_, 1, count, kIntegerBytes);
    }
  }

  void inside_pieces() {
    const bool sp = spec_.sequence_parallel;
    const bool again = spec_.recompute == Recompute::full;
    const std::int64_t of_block = sp ? (again ? 14 : 10) : (again ? 6 : 4);
    const std::int64_t activations =
        embedding_ * (sp ? 2 : 1) + head_ * (sp ? 3 : 1) + blocks_ * of_block;
    const std::int64_t of_loss = spec_.smoothing ? 4 : 3;
    add_numbers(m_ * (activations + 3 * head_),
                m_ * tokens_ * (activations * x_.h + head_ * of_loss));
  }

  void sums_over_tp() {
    if (model_.kv_heads < x_.t && blocks_ > 0) {
      add_numbers(1, blocks_ * 2 * (x_.h + x_.bias) * x_.keys);
    }
    const std::int64_t head_norms = blocks_ * x_.head_norms * x_.d;
    const std::int64_t of_rows = spec_.sequence_parallel ? (2 * blocks_ + head_) * x_.norm * x_.h +
                                                               blocks_ * 2 * x_.bias * x_.h
                                                         : 0;
    add_numbers(head_norms + of_rows > 0 ? 1 : 0, head_norms + of_rows);
  }

  void over_replicas() {
    const std::int64_t position = model_.positions == Positions::learned ? embedding_ : 0;
    const std::int64_t table = x_.vocabulary * x_.h;
    const std::int64_t tensors = blocks_ * block_tensors(x_, model_.attention_sink) + embedding_ +
                                 position + head_ * (1 + x_.norm);
    const std::int64_t numbers = blocks_ * block_numbers(x_, model_.attention_sink, model_.heads) +
                                 (embedding_ + head_) * table + position * model_.sequence * x_.h +
                                 head_ * x_.norm * x_.h;
    const std::int64_t copies = model_.tied_embeddings ? embedding_ * head_ : 0;
    const std::int64_t scatters = spec_.zero_stage >= 2 ? m_ : 1;
    add(total_, scatters * tensors, scatters * numbers, x_.gradient_bytes);
    if (spec_.zero_stage == 3) {
      add_numbers(2 * m_ * tensors, 2 * m_ * numbers);
    } else if (spec_.zero_stage > 0) {
      add_numbers(tensors - copies, numbers - copies * table);
    }
  }

  void between_stages() {
    add_numbers(2 * m_ * borders_, 2 * m_ * borders_ * own_rows_ * x_.h);
    const bool is_one_of_two = model_.tied_embeddings && embedding_ + head_ == 1;
    add_numbers(is_one_of_two ? 1 : 0, is_one_of_two ? own_rows_of_table() * x_.h : 0);
  }

  /// ceil(n / D) with ZeRO, the last replicas fewer.
  std::int64_t own_rows_of_table() const {
    const std::int64_t replicas = spec_.zero_stage > 0 ? spec_.mesh.degree(Axis::dp) : 1;
    const std::int64_t each = (x_.vocabulary + replicas - 1) / replicas;
    const std::int64_t before = spec_.zero_stage > 0 ? each * replica_ : 0;
    return std::clamp(x_.vocabulary - before, std::int64_t{0}, each);
  }

  const CaseSpec& spec_;
  const ModelSpec& model_;
  Extents x_;
  std::int64_t m_, tokens_;
  std::int64_t embedding_ = 0, head_ = 0, blocks_ = 0;  // of the rank's stage
  std::int64_t own_rows_ = 0;
  std::int64_t replica_ = 0;
  std::int64_t borders_ = 0;  // of its chunks with other stages
  AxisTraffic total_;
};

}  // namespace

std::vector<AxisTraffic> traffic_of(std::span<const CollectiveRow> rows) {
  std::vector<AxisTraffic> all;
  for (const CollectiveRow& row : rows) {
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const AxisTraffic& each) { return each.axis == row.axis; });
    if (found == all.end()) {
      found = all.insert(all.end(), {row.axis, 0, 0});
    }
    add(*found, 1, row.bytes, 1);
  }
  return all;
}

AxisTraffic traffic_along(const Layout& layout, int rank, std::string_view axes) {
  return ClosedForm(layout, rank, std::string(axes)).all();
}

}  // namespace meshparity::expect
