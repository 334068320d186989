#include "parallel_impl/model/bucket_plan.hpp"

#include <algorithm>
#include <numeric>

namespace meshparity {
namespace {

constexpr std::int64_t kElementsOfKibi = 1024;

bool closes_before(const Bucket& open, const BucketItem& last, const BucketItem& next,
                   const BucketRules& rules) {
  const bool full = rules.closes_at > 0 && open.filled >= rules.closes_at;
  const bool piece_ends = rules.stage == 3 && next.piece != last.piece;
  return rules.one_each() || full || piece_ends || next.chunk != last.chunk || last.alone ||
         next.alone;
}

std::vector<std::int64_t> parts_by_rows(const BucketItem& item, int ranks) {
  const std::int64_t share = (item.rows + ranks - 1) / ranks;
  std::vector<std::int64_t> parts;
  std::int64_t left = item.rows;
  for (int rank = 0; rank < ranks; ++rank) {
    parts.push_back(std::min(share, left) * item.width);
    left -= std::min(share, left);
  }
  return parts;
}

void cut(Bucket& bucket, std::span<const BucketItem> items, const BucketRules& rules) {
  if (rules.stage == 0) {
    bucket.parts = {bucket.filled};
  } else if (rules.by_parameter) {
    bucket.parts = parts_by_rows(items[bucket.entries.front().item], rules.ranks);
  } else {
    bucket.parts.assign(static_cast<std::size_t>(rules.ranks),
                        (bucket.filled + rules.ranks - 1) / rules.ranks);
  }
}

}  // namespace

BucketRules bucket_rules(const CaseSpec& spec) {
  return {spec.zero_stage, spec.zero_by_parameter, spec.bucket_kibi_elements * kElementsOfKibi,
          spec.mesh.degree(Axis::dp)};
}

std::int64_t Bucket::count() const {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

std::int64_t Bucket::part_begin(int rank) const {
  return std::accumulate(parts.begin(), parts.begin() + rank, std::int64_t{0});
}

std::int64_t Bucket::filled_count(int rank) const {
  return std::clamp<std::int64_t>(filled - part_begin(rank), 0, part_count(rank));
}

std::vector<Bucket> bucket_plan(std::span<const BucketItem> items, const BucketRules& rules) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || closes_before(buckets.back(), items[i - 1], items[i], rules)) {
      Bucket& opened = buckets.emplace_back();
      opened.chunk = items[i].chunk;
      opened.piece = items[i].piece;
    }
    Bucket& bucket = buckets.back();
    bucket.entries.push_back({i, bucket.filled});
    bucket.filled += items[i].count();
  }
  for (Bucket& bucket : buckets) {
    cut(bucket, items, rules);
  }
  return buckets;
}

}  // namespace meshparity
