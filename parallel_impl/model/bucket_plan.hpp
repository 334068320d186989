// How a rank's parameters lie one after the other in buckets, and which part of each bucket every
// data-parallel rank owns (ZeRO). Numbers only: storage and traffic are elsewhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity {

struct BucketRules {
  int stage = 0;               // of ZeRO; 0: nothing is cut
  bool by_parameter = false;   // cut by rows, each parameter for itself
  std::int64_t closes_at = 0;  // elements; 0: no number of them closes a bucket
  int ranks = 1;               // of dp

  /// Each parameter is a bucket.
  bool one_each() const { return by_parameter || (stage == 0 && closes_at == 0); }
};
BucketRules bucket_rules(const CaseSpec& spec);

/// A parameter as a plan sees it: its slice has rows (elements of a vector) of `width` elements.
struct BucketItem {
  std::int64_t rows = 0;
  std::int64_t width = 1;
  int chunk = 0;
  int piece = 0;
  bool alone = false;  // shares no bucket: both stages of a tied weight cut it alike

  std::int64_t count() const { return rows * width; }
};

struct Bucket {
  struct Entry {
    std::size_t item = 0;    // in the list that was planned
    std::int64_t first = 0;  // its first element's place in the bucket
  };
  std::vector<Entry> entries;
  int chunk = 0;
  int piece = 0;            // of the first entry
  std::int64_t filled = 0;  // elements without padding
  /// Elements that each rank of dp owns, in order; their sum is `filled` and the padding.
  std::vector<std::int64_t> parts;

  std::int64_t count() const;
  std::int64_t part_begin(int rank) const;
  std::int64_t part_end(int rank) const { return part_begin(rank) + part_count(rank); }
  std::int64_t part_count(int rank) const { return parts[static_cast<std::size_t>(rank)]; }
  /// Of a part, without padding.
  std::int64_t filled_count(int rank) const;
};

/// Buckets in the order of the list. One closes when it has `closes_at` elements, at a chunk's
/// border, in stage 3 at a piece's border, and around items that are alone. Flat parts are equal,
/// for which the bucket is padded; parts by rows are ceil(rows / ranks) rows, the last ones shorter
/// or empty: 5 rows on 4 ranks are 2, 2, 1 and 0. In stage 0 one part is all.
std::vector<Bucket> bucket_plan(std::span<const BucketItem> items, const BucketRules& rules);

}  // namespace meshparity
