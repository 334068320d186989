#include "matrix/expect/shards.hpp"

#include <algorithm>
#include <utility>

#include "matrix/expect/grid.hpp"
#include "matrix/expect/stages.hpp"
#include "matrix/expect/tied.hpp"

namespace meshparity::expect {
namespace {

std::int64_t rounded_up(std::int64_t number, std::int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

class BucketList {
 public:
  BucketList(const Layout& layout, int rank) : layout_(layout), spec_(layout.spec), rank_(rank) {}

  std::vector<Bucket> all() {
    for (const ParamSpec& param : params_of(layout_, rank_)) {
      add(param, piece_named(param.name, layout_.model));
    }
    for (Bucket& bucket : list_) {
      const bool is_padded = spec_.zero_stage > 0 && !spec_.zero_by_parameter;
      bucket.in_memory =
          is_padded ? rounded_up(bucket.elements, spec_.mesh.degree(Axis::dp)) : bucket.elements;
    }
    return std::move(list_);
  }

 private:
  void add(const ParamSpec& param, int piece) {
    const int chunk = chunk_of_piece(layout_, piece);
    const bool alone = is_tied(param, layout_.model);
    if (list_.empty() || closed_ || alone || borders(list_.back(), chunk, piece)) {
      const bool is_copy = reads_another(param, layout_, rank_);
      list_.push_back({chunk, piece, param.layer, is_copy, 1, 0, 0, {}});
    }
    Bucket& bucket = list_.back();
    const std::int64_t elements = part_of(param, layout_, rank_).in_memory;
    bucket.members.push_back({param.name, {bucket.elements, bucket.elements + elements}});
    bucket.elements += elements;
    if (spec_.zero_by_parameter) {
      bucket.row = param.shape.size() > 1 ? row_of(param) : 1;
    }
    closed_ = alone || is_full(bucket);
  }

  bool borders(const Bucket& last, int chunk, int piece) const {
    return last.chunk != chunk || (spec_.zero_stage == 3 && last.piece != piece);
  }

  bool is_full(const Bucket& bucket) const {
    const std::int64_t kibi = spec_.bucket_kibi_elements;
    const bool one_each = spec_.zero_by_parameter || (spec_.zero_stage == 0 && kibi == 0);
    return one_each || (kibi > 0 && bucket.elements >= kibi * 1024);
  }

  std::int64_t row_of(const ParamSpec& param) const {
    return part_of(param, layout_, rank_).box.extent.back();
  }

  const Layout& layout_;
  const CaseSpec& spec_;
  int rank_;
  bool closed_ = false;
  std::vector<Bucket> list_;
};

/// Rows [first, first + count) of the box that the rank records, as elements of the box.
Range recorded_elements(const ParamPart& part) {
  const std::int64_t rows = std::max<std::int64_t>(1, part.box.extent.front());
  const std::int64_t row = element_count(part.box.extent) / rows;
  const std::int64_t first = (part.dumped.start.front() - part.box.start.front()) * row;
  return {first, first + part.dumped.extent.front() * row};
}

Range within(const Range& outer, const Range& range) {
  return {std::clamp(range.lo, outer.lo, outer.hi), std::clamp(range.hi, outer.lo, outer.hi)};
}

}  // namespace

std::vector<ParamSpec> params_of(const Layout& layout, int rank) {
  std::vector<ParamSpec> held;
  for (ParamSpec& param : param_table(layout.model)) {
    if (holds_piece(layout, rank, piece_named(param.name, layout.model))) {
      held.push_back(std::move(param));
    }
  }
  return held;
}

std::vector<Bucket> buckets_of(const Layout& layout, int rank) {
  return BucketList(layout, rank).all();
}

Range share_of(const Bucket& bucket, const Layout& layout, int rank) {
  const CaseSpec& spec = layout.spec;
  if (spec.zero_stage == 0) {
    return {0, bucket.in_memory};
  }
  const std::int64_t replicas = spec.mesh.degree(Axis::dp);
  const std::int64_t index = coordinate_on(spec, rank, Axis::dp);
  const std::int64_t rows = bucket.in_memory / bucket.row;
  const std::int64_t each = rounded_up(rows, replicas) / replicas;
  return {std::min(index * each, rows) * bucket.row,
          std::min((index + 1) * each, rows) * bucket.row};
}

Range owned_of(const Bucket::Member& member, const Bucket& bucket, const Layout& layout, int rank) {
  const Range owned = within(member.range, share_of(bucket, layout, rank));
  return {owned.lo - member.range.lo, owned.hi - member.range.lo};
}

Range shard_of(const ParamSpec& param, const Layout& layout, int rank) {
  for (const Bucket& bucket : buckets_of(layout, rank)) {
    for (const Bucket::Member& member : bucket.members) {
      if (member.name == param.name) {
        return owned_of(member, bucket, layout, rank);
      }
    }
  }
  return {};
}

bool is_sharded(Phase phase, const CaseSpec& spec) {
  return spec.zero_stage == 3 || (spec.zero_stage > 0 && phase != Phase::param);
}

Placement part_of(const ParamSpec& param, Phase phase, const Layout& layout, int rank) {
  const ParamPart part = part_of(param, layout, rank);
  if (!is_sharded(phase, layout.spec)) {
    return BoxPlacement{{part.dumped}};
  }
  const Range held = within(recorded_elements(part), shard_of(param, layout, rank));
  return FlatPlacement{part.box, held.lo, held.hi};
}

}  // namespace meshparity::expect
