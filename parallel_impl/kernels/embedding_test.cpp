#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/embedding.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

TEST(Embedding, GatherGivesZerosForRowsOfOtherRanks) {
  const std::vector<double> table = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // tokens 4 and 5, width 5
  const std::vector<int> tokens = {5, 3, 4, 6};
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(20, 99);

    LaneTeam(lanes).run(
        EmbeddingGather<double>{table.data(), tokens.data(), out.data(), 4, 5, 4, 2});

    EXPECT_EQ(out, (std::vector<double>{6, 7, 8, 9, 10, 0, 0, 0, 0, 0,  //
                                        1, 2, 3, 4, 5,  0, 0, 0, 0, 0}));
  }
}

TEST(Embedding, ScatterAddsInTokenOrder) {
  // Token 4 three times: 2^53 + 1 + 1 in that order stays 2^53. Tokens 3 and 7 are others'; what
  // lies beside the table must stay.
  const double large = 9007199254740992.0;
  const std::vector<int> tokens = {4, 7, 4, 5, 4, 3};
  const std::vector<double> grad = {large, 1, 5, 5, 1, 2, 3, 4, 1, 3, 8, 8};
  for (const int lanes : kLaneCounts) {
    std::vector<double> memory(8);

    LaneTeam(lanes).run(
        EmbeddingScatter<double>{grad.data(), tokens.data(), memory.data() + 2, 6, 2, 4, 2});

    EXPECT_EQ(memory, (std::vector<double>{0, 0, large, 6, 3, 4, 0, 0}));
  }
}

TEST(Embedding, PositionsRepeatWithEverySample) {
  const std::vector<double> table = {1, 2, 3, 10, 20, 30};  // 2 positions, width 3
  for (const int lanes : kLaneCounts) {
    std::vector<double> x(12, 0.5);

    LaneTeam(lanes).run(AddPositions<double>{x.data(), table.data(), 4, 3, 2, 1});

    EXPECT_EQ(x, (std::vector<double>{10.5, 20.5, 30.5, 1.5, 2.5, 3.5,  //
                                      10.5, 20.5, 30.5, 1.5, 2.5, 3.5}));
  }
}

TEST(Embedding, PositionGradientSumsOverSamples) {
  const std::vector<double> grad = {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
  for (const int lanes : kLaneCounts) {
    std::vector<double> table(6, 99);

    LaneTeam(lanes).run(PositionGrad<double>{grad.data(), table.data(), 4, 3, 2});

    EXPECT_EQ(table, (std::vector<double>{11, 22, 33, 44, 55, 66}));
  }
}

}  // namespace
}  // namespace meshparity
