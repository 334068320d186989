#include "matrix/expect/traffic.hpp"

#include <algorithm>

#include "matrix/expect/record_parts.hpp"

namespace meshparity::expect {
namespace {

constexpr std::int64_t kExactSum = 71;  // integers
constexpr std::int64_t kIntegerBytes = 8;

/// The model's extents as the formulas write them, and what one rank of t has of them.
struct Extents {
  explicit Extents(const Layout& layout)
      : t(layout.spec.mesh.degree(Axis::tp)),
        layers(layout.model.layers),
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
        number_bytes(layout.spec.precision == Precision::fp64 ? 8 : 4) {}

  std::int64_t t, layers, h, f, d, queries, keys, vocabulary;
  std::int64_t bias;        // vectors beside a weight: 0 or 1
  std::int64_t norm;        // vectors of a norm: 1 or 2
  std::int64_t gates;       // beside `up`: 0 or 1
  std::int64_t head_norms;  // of query and key heads: 0 or 2
  std::int64_t number_bytes;
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

AxisTraffic tp_traffic(const Layout& layout) {
  AxisTraffic traffic{"tp", 0, 0};
  const Extents x(layout);
  if (x.t == 1) {
    return traffic;
  }
  const bool sp = layout.spec.sequence_parallel;
  const std::int64_t m = layout.spec.micro_batches;
  const std::int64_t tokens = rows_of_micro_batch(layout);
  const std::int64_t activations = sp ? 5 + 10 * x.layers : 2 + 4 * x.layers;
  const std::int64_t of_loss = layout.spec.smoothing ? 4 : 3;
  add(traffic, m * (activations + 3), m * tokens * (activations * x.h + of_loss), x.number_bytes);
  add(traffic, 1, kExactSum, kIntegerBytes);
  add(traffic, layout.spec.loss_scaling ? 1 : 0, layout.spec.loss_scaling ? 1 : 0, kIntegerBytes);
  if (layout.model.kv_heads < x.t) {
    add(traffic, 1, x.layers * 2 * (x.h + x.bias) * x.keys, x.number_bytes);
  }
  const std::int64_t head_norms = x.layers * x.head_norms * x.d;
  const std::int64_t of_rows =
      sp ? (2 * x.layers + 1) * x.norm * x.h + x.layers * 2 * x.bias * x.h : 0;
  add(traffic, head_norms + of_rows > 0 ? 1 : 0, head_norms + of_rows, x.number_bytes);
  return traffic;
}

AxisTraffic dp_traffic(const Layout& layout) {
  AxisTraffic traffic{"dp", 0, 0};
  if (layout.spec.mesh.degree(Axis::dp) == 1) {
    return traffic;
  }
  const Extents x(layout);
  const ModelSpec& model = layout.model;
  const bool learned = model.positions == Positions::learned;
  const std::int64_t outside =
      2 * x.vocabulary * x.h + (learned ? std::int64_t{model.sequence} * x.h : 0) + x.norm * x.h;
  add(traffic, x.layers * block_tensors(x, model.attention_sink) + 2 + (learned ? 1 : 0) + x.norm,
      x.layers * block_numbers(x, model.attention_sink, model.heads) + outside, x.number_bytes);
  add(traffic, 1, kExactSum + 1, kIntegerBytes);
  return traffic;
}

}  // namespace meshparity::expect
