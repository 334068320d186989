#include "matrix/job_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JobQueue, HandsOutEveryJobOnceInOrder) {
  JobQueue queue(8, 2);

  EXPECT_THAT(queue.take(), ElementsAre(0, 1));  // 8 / (2 * 2)
  EXPECT_THAT(queue.take(), ElementsAre(2));     // 6 / 4
  EXPECT_THAT(queue.take(), ElementsAre(3));
  EXPECT_THAT(queue.take(), ElementsAre(4));
  EXPECT_THAT(queue.take(), ElementsAre(5));
  EXPECT_THAT(queue.take(), ElementsAre(6));
  EXPECT_THAT(queue.take(), ElementsAre(7));
  EXPECT_THAT(queue.take(), IsEmpty());
}

TEST(JobQueue, HandsOutAtMostSixteenAtOnce) {
  JobQueue queue(1000, 2);

  EXPECT_EQ(queue.take().size(), 16u);
}

TEST(JobQueue, HandsEverythingToASingleTaker) {
  JobQueue queue(1000, 1);

  EXPECT_EQ(queue.take().size(), 1000u);
  EXPECT_THAT(queue.take(), IsEmpty());
}

TEST(JobQueue, IsHopelessAfterThreeFruitlessLaunchesInARow) {
  JobQueue queue(10, 1);

  queue.launch_was_fruitless("it ended");
  queue.launch_was_fruitless("it ended");
  queue.job_began();
  queue.launch_was_fruitless("it ended");
  queue.launch_was_fruitless("it ended");
  EXPECT_EQ(queue.why_hopeless(), "");
  queue.launch_was_fruitless("it ended");

  EXPECT_EQ(queue.why_hopeless(), "it ended");
}

}  // namespace
}  // namespace meshparity
