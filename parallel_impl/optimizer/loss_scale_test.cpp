#include "parallel_impl/optimizer/loss_scale.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace meshparity {
namespace {

TEST(LossScale, DoublesAfterTwoGoodStepsAndHalvesAfterASkip) {
  CaseSpec spec;
  spec.loss_scaling = true;
  LossScale scale(spec);
  std::vector<double> seen;
  for (const bool skipped : {false, true, false, false, false, false, true, false}) {
    seen.push_back(scale.value());
    scale.after(skipped);
  }

  EXPECT_EQ(seen, (std::vector<double>{65536, 65536, 32768, 32768, 65536, 65536, 131072, 65536}));
}

TEST(LossScale, IsOneWithoutTheFeature) {
  LossScale scale{CaseSpec()};
  scale.after(true);

  EXPECT_EQ(scale.value(), 1);
}

}  // namespace
}  // namespace meshparity
