#include "matrix/checks/call_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Rows = std::vector<CollectiveRow>;

CollectiveRow call(std::string site, std::int64_t count) {
  CollectiveRow row;
  row.site = std::move(site);
  row.kind = "all_reduce";
  row.axis = "tp";
  row.group = "0 1";
  row.count = count;
  row.bytes = 8 * count;
  row.type = "float64";
  return row;
}

/// Numbered from 1 as they stand.
Rows numbered(Rows rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].sequence = static_cast<std::int64_t>(i) + 1;
  }
  return rows;
}

// b and c look alike, as the gradients of a norm's weight and bias do.
const Rows kDue = numbered({call("a", 4), call("b", 2), call("b", 2), call("d", 8), call("e", 1)});

/// What is said of kDue with some of its calls in this order.
CallFault fault_of(const std::vector<std::size_t>& order) {
  Rows done;
  for (const std::size_t place : order) {
    done.push_back(kDue[place]);
  }
  return first_call_fault(kDue, numbered(done), 0).value_or(CallFault{});
}

TEST(CallOrder, HasNothingToSayOfWhatWasDue) {
  EXPECT_FALSE(first_call_fault(kDue, kDue, 0));
  EXPECT_FALSE(first_call_fault({}, {}, 0));
}

TEST(CallOrder, NamesACallThatWasLeftOut) {
  const CallFault first = fault_of({1, 2, 3, 4});
  EXPECT_EQ(first.sequence, 1);
  EXPECT_EQ(first.site, "a");
  EXPECT_EQ(first.text,
            "a left out: expected all_reduce of 4 float64 at a mb 0 in tp group 0 1, 32 bytes; did "
            "all_reduce of 2 float64 at b mb 0 in tp group 0 1, 16 bytes");

  EXPECT_THAT(fault_of({0, 1, 3, 4}).text, StartsWith("b left out"));
  EXPECT_EQ(fault_of({0, 1, 3, 4}).sequence, 3);
  EXPECT_THAT(fault_of({0, 1, 2, 3}).text, StartsWith("e left out"));
  EXPECT_THAT(fault_of({0, 1, 2, 3}).text, HasSubstr("did nothing more in this step"));
}

TEST(CallOrder, NamesACallThatWasDoneTwice) {
  EXPECT_THAT(fault_of({0, 0, 1, 2, 3, 4}).text, StartsWith("a done twice"));
  EXPECT_EQ(fault_of({0, 0, 1, 2, 3, 4}).sequence, 2);
  EXPECT_THAT(fault_of({0, 1, 2, 2, 3, 4}).text, StartsWith("b done twice"));
  EXPECT_THAT(fault_of({0, 1, 2, 3, 4, 4}).text, StartsWith("e done twice"));
  EXPECT_THAT(fault_of({0, 1, 2, 3, 4, 0}).text, StartsWith("a not due here"));
}

TEST(CallOrder, NamesCallsThatChangedPlaces) {
  const CallFault moved = fault_of({0, 1, 2, 4, 3});

  EXPECT_THAT(moved.text, StartsWith("d out of order"));
  EXPECT_EQ(moved.sequence, 4);
}

TEST(CallOrder, NamesACallInAnotherGroupOrOfAnotherKindOrSize) {
  const auto changed = [](auto change) {
    Rows done = kDue;
    change(done[3]);
    return first_call_fault(kDue, done, 0).value_or(CallFault{}).text;
  };

  EXPECT_THAT(changed([](CollectiveRow& row) { row.group = "0 2"; }),
              StartsWith("d another group, kind or size: expected all_reduce of 8"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.group = "1 0"; }), HasSubstr("group 1 0"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.kind = "all_gather"; }),
              StartsWith("d another"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.count = 7; }), StartsWith("d another"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.type = "float32"; }), StartsWith("d another"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.bytes = 1; }), StartsWith("d another"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.axis = "dp"; }), StartsWith("d another"));
  EXPECT_THAT(changed([](CollectiveRow& row) { row.mb = 1; }), StartsWith("d another call"));
}

TEST(CallOrder, NamesANumberThatTheLedgerSkips) {
  Rows done = kDue;
  done[2].sequence = 4;

  const CallFault fault = first_call_fault(kDue, done, 0).value_or(CallFault{});

  EXPECT_EQ(fault.sequence, 3);
  EXPECT_THAT(fault.text, HasSubstr("b has number 4 in the ledger"));
}

TEST(CallOrder, CountsOnFromTheStepBefore) {
  EXPECT_EQ(first_call_fault(kDue, kDue, 10).value_or(CallFault{}).sequence, 11);
}

TEST(GroupOrder, IsTheSameOnAllRanksOfAGroupWhateverTheirOwnNumbers) {
  Rows theirs = kDue;
  theirs[0].sequence = 9;
  EXPECT_FALSE(first_group_fault(kDue, theirs));

  theirs.erase(theirs.begin() + 3);
  const auto fault = first_group_fault(kDue, theirs);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->call, 3u);
  EXPECT_THAT(fault->mine, HasSubstr("at d mb 0"));
  EXPECT_THAT(fault->mine, HasSubstr("its number 4"));
  EXPECT_THAT(fault->theirs, HasSubstr("at e mb 0"));
  EXPECT_TRUE(first_group_fault(theirs, kDue));
}

TEST(GroupOrder, LetsRanksSendUnlikeAmountsInAnAllToAllOnly) {
  Rows mine = {call("dispatch", 4)};
  Rows theirs = {call("dispatch", 5)};
  EXPECT_TRUE(first_group_fault(mine, theirs));

  mine[0].kind = theirs[0].kind = "all_to_all";
  EXPECT_FALSE(first_group_fault(mine, theirs));
}

}  // namespace
}  // namespace meshparity
