#include "matrix/distance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;

/// One record [2, 2] whole on one rank, or by columns on two.
CheckResult distance_of(std::vector<double> single, std::vector<double> cut) {
  MadeCase left("gpt-tiny.single.sgd-steps1.fp64.host-threads");
  left.add("x", {2, 2}, std::move(single));
  left.give(0, "x", BoxPlacement{{{{0, 0}, {2, 2}}}});
  MadeCase right("gpt-tiny.tp2.sgd-steps1.fp64.host-threads");
  right.add("x", {2, 2}, std::move(cut));
  right.give(0, "x", BoxPlacement{{{{0, 0}, {2, 1}}}});
  right.give(1, "x", BoxPlacement{{{{0, 1}, {2, 1}}}});
  const DumpSet a(left.write().candidate);
  const DumpSet b(right.write().candidate);
  return measure_distance(a, b, [](const RecordKey&) { return true; });
}

TEST(Distance, IsTheRelativeFrobeniusNorm) {
  const CheckResult result = distance_of({3, 0, 0, 4}, {3, 0.5, 0, 4});

  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_EQ(result.compared, 1);
  EXPECT_THAT(result.notes, ElementsAre("forward: at most 0.1 of the record, in x step 0"));
}

TEST(Distance, OfEqualRecordsIsZero) {
  EXPECT_THAT(distance_of({0, 0, 0, 0}, {0, 0, 0, 0}).notes,
              ElementsAre("forward: at most 0 of the record, in x step 0"));
}

TEST(Distance, ShowsNanAndWhatTheFirstSideLacks) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THAT(distance_of({1, 2, 3, 4}, {1, nan, 3, 4}).notes,
              ElementsAre("forward: at most nan of the record, in x step 0"));
  EXPECT_THAT(distance_of({0, 0, 0, 0}, {1, 0, 0, 0}).notes,
              ElementsAre("forward: at most inf of the record, in x step 0"));
}

}  // namespace
}  // namespace meshparity
