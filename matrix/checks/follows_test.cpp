#include "matrix/checks/follows.hpp"

#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

TEST(Follows, WhatLiesBehindTheFirstCauseIsMarked) {
  MadeCase made(kSingle);
  for (const char* name : {"first", "second"}) {
    made.add(name, {1}, {1});
    made.give(0, name, all_of({1})).values = {{2}};
  }
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(cause_of(report).record, "first");
  EXPECT_EQ(cause_of(report).follows_from, "");
  EXPECT_EQ(result_of(report, "forward").findings[1].follows_from, "forward forward first step 0");
  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "forward forward first step 0");
}

TEST(Follows, GradientsDoNotFollowFromOtherGradients) {
  MadeCase made(kSingle);
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "");
}

}  // namespace
}  // namespace meshparity
