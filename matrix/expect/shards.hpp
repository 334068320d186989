// How data-parallel sums and ZeRO put parameters together and cut them, by matrix's own formulas
// (algorithms.md §8.2, §8.3): buckets of a rank, and the part of each that one replica owns.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fixtures/record_table.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Elements [lo, hi) of a bucket or of what a rank has in memory of a parameter.
struct Range {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  std::int64_t count() const { return hi - lo; }
  bool operator==(const Range&) const = default;
};

/// Parameters that are summed, gathered and cut in one call.
struct Bucket {
  struct Member {
    std::string name;
    Range range;  // of the bucket; with the vocabulary's padding
  };
  int chunk = 0;
  int piece = 0;               // of its first member
  int layer = -1;              // of its first member; -1: of no block
  bool is_copy = false;        // a tied head beside the embedding: its values are another's
  std::int64_t row = 1;        // elements that are never cut apart: 1, or a row with _param
  std::int64_t elements = 0;   // of its members
  std::int64_t in_memory = 0;  // padded with zeros so that every replica owns equally many
  std::vector<Member> members;
};

/// The parameters that a rank holds: those of its stage's pieces.
std::vector<ParamSpec> params_of(const Layout& layout, int rank);

/// Of the parameters that a rank holds, in the table's order. A bucket closes
///
/// * when it holds k * 1,024 elements with bucket<k>, and else not before
/// * the border of a chunk, with zero3 of a piece,
/// * before and after embed.weight and head.weight where the model ties them: the stages of both
/// cut
///   them alike.
///
/// With `_param`, and with zero0 without bucket<k>, every parameter is a bucket of its own.
/// Elements are padded where a flat bucket is cut (zero1 to zero3), to a multiple of dp.
std::vector<Bucket> buckets_of(const Layout& layout, int rank);

/// What the rank's replica owns of a bucket: replica r of D the r-th of D equal parts; with
/// `_param` ceil(n / D) of n rows, the last replicas fewer or none. All of it with zero0.
Range share_of(const Bucket& bucket, const Layout& layout, int rank);

/// Likewise of a member, counted from its first element.
Range owned_of(const Bucket::Member& member, const Bucket& bucket, const Layout& layout, int rank);

/// Of what a rank has in memory of a parameter, the elements that its replica owns; all of them
/// with zero0. The rank holds the parameter.
Range shard_of(const ParamSpec& param, const Layout& layout, int rank);

/// Whether what is dumped of a phase lies in shards: gradients, moments and masters with zero1 to
/// zero3, parameters with zero3.
bool is_sharded(Phase phase, const CaseSpec& spec);

/// Where a rank's piece of a parameter, its gradient, moment or master lies. Where several ranks
/// hold the same key heads, their share of the rows; a shard is a range of the rank's own slice.
Placement part_of(const ParamSpec& param, Phase phase, const Layout& layout, int rank);

}  // namespace meshparity::expect
