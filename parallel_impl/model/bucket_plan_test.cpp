#include "parallel_impl/model/bucket_plan.hpp"

#include <gtest/gtest.h>

#include <string>

namespace meshparity {
namespace {

using Parts = std::vector<std::int64_t>;

/// "0@0 1@6 | 2@0": items and their places, bucket by bucket.
std::string text(const std::vector<Bucket>& buckets) {
  std::string text;
  for (const Bucket& bucket : buckets) {
    text += text.empty() ? "" : "| ";
    for (const Bucket::Entry& entry : bucket.entries) {
      text += std::to_string(entry.item) + "@" + std::to_string(entry.first) + " ";
    }
  }
  return text.substr(0, text.size() - 1);
}

std::vector<Bucket> planned(const std::vector<BucketItem>& items, const BucketRules& rules) {
  return bucket_plan(items, rules);
}

// 3x2, 5, 4x2 and 7 elements: 6 + 5 + 8 + 7.
const std::vector<BucketItem> kFour = {{3, 2}, {5}, {4, 2}, {7}};

TEST(BucketPlan, WithoutANumberThereIsOneBucketOfEqualPaddedParts) {
  const std::vector<Bucket> buckets = planned(kFour, {.stage = 1, .ranks = 4});

  EXPECT_EQ(text(buckets), "0@0 1@6 2@11 3@19");
  EXPECT_EQ(buckets[0].filled, 26);
  EXPECT_EQ(buckets[0].parts, (Parts{7, 7, 7, 7}));
  EXPECT_EQ(buckets[0].count(), 28);
  EXPECT_EQ(buckets[0].part_begin(2), 14);
  EXPECT_EQ(buckets[0].part_end(2), 21);
  EXPECT_EQ(buckets[0].filled_count(2), 7);
  EXPECT_EQ(buckets[0].filled_count(3), 5);
}

TEST(BucketPlan, ABucketClosesOnceItHasTheNumber) {
  EXPECT_EQ(text(planned(kFour, {.stage = 1, .closes_at = 11, .ranks = 2})), "0@0 1@6 | 2@0 3@8");
  EXPECT_EQ(text(planned(kFour, {.stage = 1, .closes_at = 12, .ranks = 2})), "0@0 1@6 2@11 | 3@0");
  EXPECT_EQ(text(planned(kFour, {.closes_at = 11, .ranks = 2})), "0@0 1@6 | 2@0 3@8");
}

TEST(BucketPlan, WithoutZeroNothingIsCutOrPadded) {
  const std::vector<Bucket> each = planned(kFour, {.ranks = 4});
  const std::vector<Bucket> joined = planned(kFour, {.closes_at = 100, .ranks = 4});

  EXPECT_EQ(text(each), "0@0 | 1@0 | 2@0 | 3@0");
  EXPECT_EQ(each[1].parts, Parts{5});
  EXPECT_EQ(joined[0].parts, Parts{26});
}

TEST(BucketPlan, ChunksAndLonelyItemsEndABucketAndPiecesDoInStageThree) {
  const std::vector<BucketItem> items = {{2, 1, 0, 0, true}, {3, 1, 0, 0}, {4, 1, 0, 1},
                                         {5, 1, 0, 2},       {6, 1, 4, 7}, {2, 1, 4, 7, true}};

  EXPECT_EQ(text(planned(items, {.stage = 2, .ranks = 2})), "0@0 | 1@0 2@3 3@7 | 4@0 | 5@0");
  EXPECT_EQ(text(planned(items, {.stage = 3, .ranks = 2})), "0@0 | 1@0 | 2@0 | 3@0 | 4@0 | 5@0");
  EXPECT_EQ(planned(items, {.stage = 2, .ranks = 2})[2].chunk, 4);
  EXPECT_EQ(planned(items, {.stage = 2, .ranks = 2})[2].piece, 7);
}

TEST(BucketPlan, ByParameterRowsAreCutAndTheLastPartsAreShorterOrEmpty) {
  const std::vector<Bucket> buckets =
      planned({{5, 3}, {9, 2}, {1, 4}, {8}}, {.stage = 2, .by_parameter = true, .ranks = 4});

  ASSERT_EQ(text(buckets), "0@0 | 1@0 | 2@0 | 3@0");
  EXPECT_EQ(buckets[0].parts, (Parts{6, 6, 3, 0}));
  EXPECT_EQ(buckets[1].parts, (Parts{6, 6, 6, 0}));
  EXPECT_EQ(buckets[2].parts, (Parts{4, 0, 0, 0}));
  EXPECT_EQ(buckets[3].parts, (Parts{2, 2, 2, 2}));
}

TEST(BucketPlan, PaddingMayFillWholeParts) {
  const std::vector<Bucket> buckets = planned({{1}}, {.stage = 3, .ranks = 4});

  EXPECT_EQ(buckets[0].parts, (Parts{1, 1, 1, 1}));
  EXPECT_EQ(buckets[0].filled, 1);
  EXPECT_EQ(buckets[0].filled_count(1), 0);
}

TEST(BucketPlan, TakesItsRulesFromTheCase) {
  const BucketRules rules =
      bucket_rules(parse_case("gpt-tiny.dp3-tp2.mb2-zero2-bucket3.fp64.host-threads"));

  EXPECT_EQ(rules.stage, 2);
  EXPECT_FALSE(rules.by_parameter);
  EXPECT_EQ(rules.closes_at, 3072);
  EXPECT_EQ(rules.ranks, 3);
}

}  // namespace
}  // namespace meshparity
