#include "matrix/shard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Shard, IsReadAndWritten) {
  const Shard shard = parse_shard("2/4");

  EXPECT_EQ(shard.number, 2);
  EXPECT_EQ(shard.count, 4);
  EXPECT_EQ(format_shard(shard), "2/4");
  EXPECT_EQ(format_shard(parse_shard("1/1")), "");
}

TEST(Shard, RefusesWhatNamesNoPart) {
  for (const std::string text :
       {"", "2", "0/4", "5/4", "2/", "/4", "2/4x", "-1/4", "2/4/8", "a/b"}) {
    EXPECT_THAT(message_of<UsageError>([&] { parse_shard(text); }), HasSubstr("\"" + text + "\""))
        << text;
  }
}

TEST(Shard, DealsCasesRoundRobinAndRelationsAfterThem) {
  RunPlan plan;
  plan.cases = {"a", "b", "c", "d"};
  plan.relations = {{"sp", "e", "f"}, {"sp", "g", "h"}};

  plan.shard = "1/3";
  EXPECT_THAT(own_part(plan).cases, ElementsAre("a", "d"));
  EXPECT_THAT(own_part(plan).relations, IsEmpty());
  plan.shard = "2/3";
  EXPECT_THAT(own_part(plan).cases, ElementsAre("b"));
  EXPECT_THAT(own_part(plan).relations, ElementsAre(plan.relations[0]));
  plan.shard = "3/3";
  EXPECT_THAT(own_part(plan).cases, ElementsAre("c"));
  EXPECT_THAT(own_part(plan).relations, ElementsAre(plan.relations[1]));
}

TEST(Shard, APlanWithoutOneIsWhole) {
  RunPlan plan;
  plan.cases = {"a", "b"};

  EXPECT_EQ(own_part(plan).cases, plan.cases);
}

}  // namespace
}  // namespace meshparity
