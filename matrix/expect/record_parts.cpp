#include "matrix/expect/record_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/schedule.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

/// What of a row a rank holds, and which rows.
enum class Lay {
  stream,      // [B, S, h] between tensor-parallel regions: whole, with sp a share of the rows
  features,    // [B, S, f]
  heads,       // [B, S, a, d]
  key_heads,   // [B, S, kv, d]; ranks with the same heads have a share of the rows each
  scores,      // [B, a, S, S]
  vocabulary,  // [B, S, V]
  samples,     // [B] and [B, S], whole
};
struct Formula {
  std::string_view name;  // without "layer<i>."
  Lay lay;
};
constexpr std::array<Formula, 23> kFormulas = {{
    {"embed.token", Lay::stream},   {"embed.sum", Lay::stream},   {"in", Lay::stream},
    {"norm1", Lay::stream},         {"attn.q_proj", Lay::heads},  {"attn.k_proj", Lay::key_heads},
    {"attn.q", Lay::heads},         {"attn.k", Lay::key_heads},   {"attn.v", Lay::key_heads},
    {"attn.probs", Lay::scores},    {"attn.context", Lay::heads}, {"attn.out", Lay::stream},
    {"attn.residual", Lay::stream}, {"norm2", Lay::stream},       {"mlp.gate", Lay::features},
    {"mlp.up", Lay::features},      {"mlp.act", Lay::features},   {"mlp.out", Lay::stream},
    {"out", Lay::stream},           {"final_norm", Lay::stream},  {"logits", Lay::vocabulary},
    {"loss.token", Lay::samples},   {"sample_ids", Lay::samples},
}};

Lay lay_of(const std::string& name) {
  std::string_view stem = name;
  if (stem.starts_with("layer")) {
    stem.remove_prefix(stem.find('.') + 1);
  }
  const auto found = std::find_if(kFormulas.begin(), kFormulas.end(),
                                  [&](const Formula& each) { return each.name == stem; });
  if (found == kFormulas.end()) {
    throw Error(fmt::format("expecting the owners of record {}: it has no formula", name));
  }
  return found->lay;
}

std::int64_t samples_of(const Layout& layout) {
  return layout.model.global_batch / layout.spec.mesh.degree(Axis::dp) / layout.spec.micro_batches;
}

/// Cuts dim `dim` of the box evenly over tp, by an extent that may reach beyond the record's.
void cut(Box& box, std::size_t dim, std::int64_t padded, Rows share) {
  const std::int64_t width = padded / share.count;
  const std::int64_t first = std::min(share.first * width, box.extent[dim]);
  box.extent[dim] = std::min(width, box.extent[dim] - first);
  box.start[dim] = first;
}

/// The rows [first, first + count) of the micro-batch, a box for each sample that they touch.
BoxPlacement rows_in(const Box& box, std::int64_t sequence, Rows rows) {
  BoxPlacement place;
  std::int64_t next = rows.first;
  const std::int64_t end = rows.first + rows.count;
  while (next < end) {
    const std::int64_t position = next % sequence;
    Box part = box;
    part.start[0] += next / sequence;
    part.extent[0] = 1;
    part.start[1] = position;
    part.extent[1] = std::min(sequence - position, end - next);
    next += part.extent[1];
    place.boxes.push_back(std::move(part));
  }
  if (place.boxes.empty()) {
    place.boxes.push_back(box);
    place.boxes.back().extent[0] = 0;
  }
  return place;
}

struct TpPlace {
  int degree = 1;
  int index = 0;
};

/// Key heads are cut over the ranks that hold others; those that hold the same share the rows.
BoxPlacement key_heads_in(Box box, const Layout& layout, TpPlace tp) {
  const int copies = std::max(1, tp.degree / layout.model.kv_heads);
  cut(box, 2, box.extent[2], {tp.index / copies, tp.degree / copies});
  return rows_in(box, layout.model.sequence,
                 share_of(rows_of_micro_batch(layout), copies, tp.index % copies));
}

}  // namespace

bool is_of_samples(const RecordSpec& record) {
  return record.phase == Phase::forward || record.phase == Phase::backward ||
         record.name == "loss.token" || record.name == "sample_ids";
}

bool holds(const RecordSpec& record, const Layout& layout, int rank) {
  const bool of_the_step = record.phase == Phase::scalar || record.phase == Phase::exact ||
                           record.phase == Phase::margin ||
                           (record.phase == Phase::loss && record.name == "loss");
  return of_the_step || holds_piece(layout, rank, piece_named(record.name, layout.model));
}

Placement part_of_step(const RecordSpec& record, const Layout& layout, int rank) {
  if (record.phase == Phase::exact && record.name == "version") {
    return BoxPlacement{{Box{{stage_of(layout.spec, rank)}, {1}}}};
  }
  return whole(record.shape);
}

std::int64_t rows_of_micro_batch(const Layout& layout) {
  return samples_of(layout) * layout.model.sequence;
}

Placement part_of(const RecordSpec& record, const Layout& layout, int rank, int mb) {
  const CaseSpec& spec = layout.spec;
  const TpPlace tp = {spec.mesh.degree(Axis::tp), coordinate_on(spec, rank, Axis::tp)};
  const std::int64_t samples = samples_of(layout);
  const int dp = coordinate_on(spec, rank, Axis::dp);
  Box box = {std::vector<std::int64_t>(record.shape.size(), 0), record.shape};
  box.start[0] = (std::int64_t{dp} * micro_batches_of_step(spec) + mb) * samples;
  box.extent[0] = samples;
  const Rows share = {tp.index, tp.degree};
  switch (lay_of(record.name)) {
    case Lay::stream:
      if (spec.sequence_parallel) {
        return rows_in(box, layout.model.sequence,
                       share_of(rows_of_micro_batch(layout), tp.degree, tp.index));
      }
      break;
    case Lay::features:
    case Lay::heads:
      cut(box, 2, box.extent[2], share);
      break;
    case Lay::key_heads:
      return key_heads_in(box, layout, tp);
    case Lay::scores:
      cut(box, 1, box.extent[1], share);
      break;
    case Lay::vocabulary:
      cut(box, 2, layout.model.padded_vocabulary, share);
      break;
    case Lay::samples:
      break;
  }
  return BoxPlacement{{box}};
}

}  // namespace meshparity::expect
