#include "matrix/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace meshparity {
namespace {

TEST(TaskPool, DoesEverythingGiven) {
  std::atomic<int> sum{0};
  TaskPool pool(3, 2);

  for (int i = 1; i <= 100; ++i) {
    pool.give([&sum, i] { sum += i; });
  }
  pool.finish();

  EXPECT_EQ(sum, 5050);
}

TEST(TaskPool, ThrowsWhatATaskThrewAndDoesTheRest) {
  std::atomic<int> done{0};
  TaskPool pool(2, 4);

  pool.give([] { throw std::runtime_error("the first"); });
  for (int i = 0; i < 10; ++i) {
    pool.give([&done] { ++done; });
  }

  EXPECT_THROW(pool.finish(), std::runtime_error);
  EXPECT_EQ(done, 10);
}

TEST(TaskPool, FinishesWhatWasGivenWhenItGoesOutOfScope) {
  std::atomic<int> done{0};
  {
    TaskPool pool(1, 8);
    for (int i = 0; i < 5; ++i) {
      pool.give([&done] { ++done; });
    }
  }

  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace meshparity
