#include "reference/ordered_groups.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace meshparity::reference {
namespace {

TEST(OrderedGroups, AddsInOrderWhateverFinishesFirst) {
  for (const int threads : {1, 2, 3, 16}) {
    std::vector<int> worked(9);
    std::vector<int> added;
    const auto work = [&](int, int group) {
      std::this_thread::sleep_for(std::chrono::milliseconds(group % 3 == 0 ? 6 : 1));
      ++worked[static_cast<std::size_t>(group)];
    };

    run_groups(9, threads, work, [&](int, int group) { added.push_back(group); });

    std::vector<int> expected(9);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(added, expected) << threads << " threads";
    EXPECT_EQ(worked, std::vector<int>(9, 1)) << threads << " threads";
  }
}

TEST(OrderedGroups, AddsOnTheThreadThatWorkedBeforeItsNextGroup) {
  std::vector<int> in_hand(2, -1);
  std::vector<int> mismatches;
  const auto work = [&](int thread, int group) {
    in_hand[static_cast<std::size_t>(thread)] = group;
  };
  const auto add = [&](int thread, int group) {
    if (in_hand[static_cast<std::size_t>(thread)] != group) {
      mismatches.push_back(group);
    }
  };
  run_groups(40, 2, work, add);
  EXPECT_TRUE(mismatches.empty());
}

TEST(OrderedGroups, ThrowsTheFirstFailureAfterAllHaveEnded) {
  const auto work = [](int, int group) {
    if (group == 1) {
      throw std::runtime_error("group 1");
    }
  };
  for (const int threads : {1, 3}) {
    std::vector<int> added;
    try {
      run_groups(9, threads, work, [&](int, int group) { added.push_back(group); });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& failure) {
      EXPECT_STREQ(failure.what(), "group 1");
    }
    EXPECT_LE(added.size(), 1u);
  }
}

}  // namespace
}  // namespace meshparity::reference
