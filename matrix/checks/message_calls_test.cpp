// One list of actions against ledgers of collectives that lack, repeat or exchange a message.
#include "matrix/checks/message_calls.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace meshparity {
namespace {

using enum expect::ActionKind;

const expect::ActionList kDone = {{receive_forward, 1, 0}, {forward, 1, 0},
                                  {receive_forward, 1, 1}, {backward, 1, 0},
                                  {send_backward, 1, 0},   {reduce}};

CollectiveRow call(const char* kind, const char* site, int mb, const char* axis = "pp") {
  CollectiveRow row;
  row.kind = kind;
  row.site = site;
  row.mb = mb;
  row.axis = axis;
  return row;
}

std::vector<CollectiveRow> as_due() {
  return {call("receive", "pp.activation/forward", 0),
          call("all_reduce", "layer3.mlp.down/forward", 0, "tp"),
          call("receive", "pp.activation/forward", 1), call("send", "pp.gradient/backward", 0)};
}

std::string fault_of(const std::vector<CollectiveRow>& calls) {
  const auto fault = first_call_fault(kDone, calls);
  return fault ? fault->text : "";
}

TEST(MessageCalls, AreThoseOfTheActions) {
  EXPECT_EQ(fault_of(as_due()), "");
}

TEST(MessageCalls, AreMissedRepeatedAndExchanged) {
  std::vector<CollectiveRow> lost = as_due(), twice = as_due(), exchanged = as_due();
  lost.pop_back();
  twice.push_back(twice.back());
  std::swap(exchanged[0], exchanged[2]);

  EXPECT_EQ(fault_of(lost),
            "send_B of chunk 1 mb 0: the ledger of collectives has no further call there");
  EXPECT_EQ(fault_of(twice), "the ledger of collectives has send pp.gradient mb 0 besides");
  EXPECT_EQ(fault_of(exchanged),
            "recv_F of chunk 1 mb 0: the ledger of collectives has receive pp.activation mb 1 "
            "there");
  EXPECT_EQ(first_call_fault(kDone, lost)->position, 4u);
}

TEST(MessageCalls, CarryActivationsOnwardAndGradientsBack) {
  std::vector<CollectiveRow> wrong = as_due();
  wrong[3].site = "pp.activation/forward";

  EXPECT_EQ(fault_of(wrong),
            "send_B of chunk 1 mb 0: the ledger of collectives has send pp.activation mb 0 there");
}

}  // namespace
}  // namespace meshparity
