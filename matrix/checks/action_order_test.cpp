// Lists of one stage with one action moved, missing, doubled, too old or not due.
#include "matrix/checks/action_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/expect/pipeline_cases.hpp"
#include "matrix/expect/simulate.hpp"

namespace meshparity {
namespace {

using expect::Action;
using expect::ActionList;
using enum expect::ActionKind;

/// Stage 1 of 2: recv_F0 F0 B0 send_B0 recv_F1 F1 B1 send_B1 W0 ... of ZB-H1 with 3 micro-batches.
const CaseSpec kSpec = expect::pipeline_case(2, Schedule::zbh1, 3);

ActionList due() {
  return expect::actions_due(kSpec)[1];
}

std::ptrdiff_t place_of(const ActionList& list, const Action& action) {
  return std::find(list.begin(), list.end(), action) - list.begin();
}

TEST(ActionOrder, FindsNothingInAListThatIsAsDue) {
  EXPECT_FALSE(first_work_fault(due(), due()).has_value());
  EXPECT_FALSE(first_message_fault(kSpec, due(), due()).has_value());
}

TEST(ActionOrder, NamesADeferredWThatWasLeftOut) {
  ActionList done = due();
  std::erase(done, Action{weights, 1, 2});

  const auto fault = first_work_fault(due(), done);

  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->text, "W of chunk 1 mb 2 left out: expected W of chunk 1 mb 2; did reduce");
  EXPECT_EQ(fault->mb, 2);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(fault->position), place_of(done, {reduce}));
}

TEST(ActionOrder, NamesWhatWasDoneTwiceAndWhatWasNotDue) {
  ActionList twice = due();
  twice.insert(twice.begin() + place_of(twice, {weights, 1, 1}), Action{weights, 1, 0});
  ActionList strange = due();
  strange.insert(strange.begin() + place_of(strange, {weights, 1, 1}), Action{backward, 0, 0});

  EXPECT_EQ(first_work_fault(due(), twice)->text,
            "W of chunk 1 mb 0 done twice: expected W of chunk 1 mb 1; did W of chunk 1 mb 0");
  EXPECT_EQ(first_work_fault(due(), strange)->text,
            "B of chunk 0 mb 0 not due: expected W of chunk 1 mb 1; did B of chunk 0 mb 0");
}

TEST(ActionOrder, NamesASwapAndAReduceThatCameTooSoon) {
  ActionList swapped = due();
  std::swap(swapped.at(static_cast<std::size_t>(place_of(swapped, {weights, 1, 1}))),
            swapped.at(static_cast<std::size_t>(place_of(swapped, {weights, 1, 2}))));
  ActionList early = due();
  std::erase(early, Action{reduce});
  early.insert(early.begin() + place_of(early, {weights, 1, 2}), Action{reduce});

  EXPECT_EQ(first_work_fault(due(), swapped)->text,
            "W of chunk 1 mb 1 out of order: expected W of chunk 1 mb 1; did W of chunk 1 mb 2");
  EXPECT_EQ(first_work_fault(due(), early)->text,
            "W of chunk 1 mb 2 out of order: expected W of chunk 1 mb 2; did reduce");
}

TEST(ActionOrder, NamesAnEndThatIsMissing) {
  ActionList done = due();
  done.pop_back();

  const auto fault = first_work_fault(due(), done);

  EXPECT_EQ(fault->text, "step left out: expected step; did nothing more");
  EXPECT_EQ(fault->position, done.size());
}

TEST(ActionOrder, NamesWeightsOfAnotherVersion) {
  ActionList done = due();
  done.at(static_cast<std::size_t>(place_of(done, {backward, 1, 1}))).version = 1;

  EXPECT_EQ(first_work_fault(due(), done)->text,
            "B of chunk 1 mb 1 used weights of version 1, 0 was due");
}

TEST(ActionOrder, WantsEveryMessageOnceBehindItsWork) {
  ActionList lost = due(), twice = due(), early = due(), late = due(), strange = due();
  std::erase(lost, Action{send_backward, 1, 2});
  twice.insert(twice.end() - 1, Action{receive_forward, 1, 0});
  std::erase(early, Action{send_backward, 1, 0});
  early.insert(early.begin(), Action{send_backward, 1, 0});
  std::erase(late, Action{receive_forward, 1, 0});
  late.insert(late.end() - 2, Action{receive_forward, 1, 0});
  strange.insert(strange.begin(), Action{receive_backward, 0, 0});
  const auto text = [](const ActionList& done) {
    return first_message_fault(kSpec, due(), done).value().text;
  };

  EXPECT_EQ(text(lost), "send_B of chunk 1 mb 2 left out");
  EXPECT_EQ(text(twice), "recv_F of chunk 1 mb 0 done twice");
  EXPECT_EQ(text(early), "send_B of chunk 1 mb 0 done before B of chunk 1 mb 0");
  EXPECT_EQ(text(late), "F of chunk 1 mb 0 done before recv_F of chunk 1 mb 0");
  EXPECT_EQ(text(strange), "recv_B of chunk 0 mb 0 not due");
}

}  // namespace
}  // namespace meshparity
