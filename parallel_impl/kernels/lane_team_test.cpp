#include "parallel_impl/kernels/lane_team.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace meshparity {
namespace {

/// Lane l writes l + 1 at its place; after the barrier every lane sums what all wrote.
struct WriteThenReadAll {
  int* written;
  double* sums;
  double* greatest;

  int groups() const { return 1; }

  template <Group G>
  void operator()(const G& group, int) const {
    written[group.lane()] = group.lane() + 1;
    group.sync();
    sums[group.lane()] = std::accumulate(written, written + group.size(), 0.0);
    greatest[group.lane()] = group.max(group.sum(static_cast<double>(group.lane() + 1)));
  }
};

TEST(LaneTeam, EveryLaneSeesWhatAllWroteBeforeTheBarrier) {
  for (const int lanes : kLaneCounts) {
    std::vector<int> written(static_cast<std::size_t>(lanes));
    std::vector<double> sums(written.size());
    std::vector<double> greatest(written.size());

    LaneTeam(lanes).run(WriteThenReadAll{written.data(), sums.data(), greatest.data()});

    const std::vector<double> expected(written.size(), lanes * (lanes + 1) / 2.0);
    EXPECT_EQ(sums, expected);
    EXPECT_EQ(greatest, expected);
  }
}

struct CountIndices {
  int* seen;

  int groups() const { return 1; }

  template <Group G>
  void operator()(const G& group, int) const {
    for_lanes(group, 5, [&](int i) { ++seen[i]; });
  }
};

TEST(LaneTeam, EachIndexIsOnOneLane) {
  for (const int lanes : kLaneCounts) {
    std::vector<int> seen(6);

    LaneTeam(lanes).run(CountIndices{seen.data()});

    EXPECT_EQ(seen, (std::vector<int>{1, 1, 1, 1, 1, 0}));
  }
}

struct CountChunks {
  int* seen;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { ++seen[i]; });
  }
};

TEST(LaneTeam, ChunksCoverEachElementOnce) {
  for (const int count : {0, 1, kChunk - 1, kChunk, 2 * kChunk + 7}) {
    std::vector<int> seen(static_cast<std::size_t>(count) + 1);
    std::vector<int> expected(seen.size(), 1);
    expected.back() = 0;

    LaneTeam(3).run(CountChunks{seen.data(), count});

    EXPECT_EQ(seen, expected) << count;
  }
}

}  // namespace
}  // namespace meshparity
