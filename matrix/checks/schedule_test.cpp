// Ledgers of actions as a conforming run would write them, and then one action moved, left out,
// doubled, or with another clock.
#include "matrix/checks/schedule.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/checks/schedule_cases.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Rows = ActionRows;

void keep(int, Rows&) {}

Rows::iterator row_of(Rows& rows, const std::string& kind, int mb) {
  return std::find_if(rows.begin(), rows.end(),
                      [&](const ActionRow& row) { return row.kind == kind && row.mb == mb; });
}

TEST(ScheduleCheck, ConformsForEverySchedule) {
  for (const char* id :
       {"single.mb2", "dp2-pp2.naive-mb3-lscale", "pp3.gpipe-mb2", "pp4.1f1b-mb6", "pp2.int2-mb4",
        "tp2-pp2.zbh1-mb3", "pp3.zbh2-mb5", "pp2.zbv-mb4", "pp2.pipedream-mb4-clip_off",
        "pp2.pipedream_vsync-mb4-clip_off", "pp2.pipedream_2bw-mb2-clip_off"}) {
    const CheckResult result = schedule_of(id, keep);

    EXPECT_EQ(result.verdict, Verdict::conforms)
        << id << (result.findings.empty() ? "" : result.findings[0].text);
    EXPECT_TRUE(result.evidence) << id;
    EXPECT_GT(result.compared, 10) << id;
  }
}

TEST(ScheduleCheck, SaysTheBubbleInBothDefinitions) {
  const CheckResult result = schedule_of("pp4.1f1b-mb6", keep);

  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0],
            "bubble 9 of 27 units: 33.3 % of the whole time (beta_tot), 50.0 % of the ideal time "
            "(beta_id)");
}

// zbh1 on ranks 0 to 3: rank 3 is stage 1 of the second pipeline.
TEST(ScheduleCheck, DivergesWhenADeferredWIsLeftUndone) {
  const CheckResult result = schedule_of(
      "dp2-pp2.zbh1-mb3-steps2", of_rank(3, [](Rows& rows) { rows.erase(row_of(rows, "W", 2)); }));

  ASSERT_FALSE(result.findings.empty());
  const Finding& first = result.findings[0];
  EXPECT_EQ(result.verdict, Verdict::diverges);
  EXPECT_EQ(first.rank, 3);
  EXPECT_EQ(first.coordinate, "dp1 pp1");
  EXPECT_EQ(first.step, 0);
  EXPECT_EQ(first.mb, 2);
  EXPECT_THAT(first.text, HasSubstr("W of chunk 1 mb 2 left out"));
  for (std::size_t i = 1; i < result.findings.size(); ++i) {
    EXPECT_EQ(result.findings[i].follows_from, "schedule rank 3 (dp1 pp1) step 0");
  }
}

TEST(ScheduleCheck, DivergesWhenAnActionIsMovedSwappedOrDoneTwice) {
  const auto first = [](const std::function<void(Rows&)>& edit) {
    const CheckResult result = schedule_of("pp2.zbh1-mb3-steps2", of_rank(1, edit));
    EXPECT_EQ(result.verdict, Verdict::diverges);
    return result.findings.at(0).text;
  };

  EXPECT_THAT(first([](Rows& rows) { std::swap(*row_of(rows, "W", 1), *row_of(rows, "W", 2)); }),
              HasSubstr("W of chunk 1 mb 1 out of order"));
  EXPECT_THAT(first([](Rows& rows) { rows.insert(row_of(rows, "W", 1), *row_of(rows, "W", 0)); }),
              HasSubstr("W of chunk 1 mb 0 done twice"));
  EXPECT_THAT(first([](Rows& rows) {
                const auto reduce = row_of(rows, "reduce", -1);
                std::rotate(row_of(rows, "W", 2), reduce, std::next(reduce));
              }),
              HasSubstr("W of chunk 1 mb 2 out of order: expected W of chunk 1 mb 2; did reduce"));
}

TEST(ScheduleCheck, NamesTheRankAndTheCycleOfADeadlock) {
  // Stage 1 sends its first gradient before it takes the second activation; stage 0 sends that
  // before it takes the gradient.
  const CheckResult result =
      schedule_of("pp2.1f1b-mb2-steps1", of_rank(1, [](Rows& rows) {
                    const auto receive = row_of(rows, "recv_F", 1);
                    const auto send = row_of(rows, "send_B", 0);
                    std::rotate(receive, std::next(receive), std::next(send));
                  }));

  const auto found = std::find_if(
      result.findings.begin(), result.findings.end(),
      [](const Finding& finding) { return finding.text.find("deadlock") != std::string::npos; });
  ASSERT_NE(found, result.findings.end());
  EXPECT_THAT(found->text,
              HasSubstr("stage 0 waits at send_F of chunk 0 mb 1 for stage 1, stage 1 waits at "
                        "send_B of chunk 1 mb 0 for stage 0"));
  EXPECT_EQ(found->rank, 0);
}

TEST(ScheduleCheck, DivergesWhenAMessageHasNoPartner) {
  const CheckResult lost = schedule_of(
      "pp2.1f1b-mb3", of_rank(0, [](Rows& rows) { rows.erase(row_of(rows, "send_F", 2)); }));

  EXPECT_THAT(lost.findings.at(0).text, HasSubstr("send_F of chunk 0 mb 2 left out"));
  EXPECT_EQ(lost.findings.at(0).step, 0);
}

TEST(ScheduleCheck, DivergesWhenTheTransportKnowsNothingOfAMessage) {
  const CheckResult result = schedule_of("pp2.gpipe-mb3-steps2", keep, {.last_call_missing_of = 1});

  EXPECT_EQ(result.findings.at(0).rank, 1);
  EXPECT_EQ(result.findings.at(0).step, 1);
  EXPECT_THAT(result.findings.at(0).text,
              HasSubstr("send_B of chunk 1 mb 2: the ledger of collectives has no further call"));
}

TEST(ScheduleCheck, LooksForTheMessagesOfAStreamInItsOverlappingSteps) {
  for (const char* id : {"pp2.pipedream-mb4-clip_off-steps2", "pp2.pipedream_2bw-mb2-clip_off"}) {
    const CheckResult result = schedule_of(id, keep, {.last_call_missing_of = 0});

    EXPECT_EQ(result.findings.at(0).rank, 0) << id;
    EXPECT_THAT(result.findings.at(0).text, HasSubstr("recv_B of chunk 0 mb")) << id;
    EXPECT_EQ(result.findings.at(0).step, std::string(id).ends_with("steps2") ? 7 : 2) << id;
  }
}

TEST(ScheduleCheck, DivergesWhenTheLedgersClockIsNotTheSimulators) {
  const CheckResult result = schedule_of("pp2.1f1b-mb3-steps1", of_rank(1, [](Rows& rows) {
                                           for (ActionRow& row : rows) {
                                             row.logical_start += row.mb == 2 ? 1 : 0;
                                             row.logical_end += row.mb == 2 ? 1 : 0;
                                           }
                                         }));

  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].rank, 1);
  EXPECT_THAT(result.findings[0].text, HasSubstr("logical clock"));
}

// One rank's clock runs late as a whole, as when a step did not begin at 0.
TEST(ScheduleCheck, DivergesWhenTheBubbleIsNotThatOfTheFormula) {
  const CheckResult result = schedule_of("pp2.1f1b-mb3-steps1", [](int, Rows& rows) {
    for (ActionRow& row : rows) {
      row.logical_end += row.kind == "B" && row.mb == 2 ? 4 : 0;
    }
  });

  EXPECT_THAT(result.findings.back().text, HasSubstr("bubble: "));
  EXPECT_FALSE(result.findings.back().follows_from.empty());
}

TEST(ScheduleCheck, DivergesWhenWorkUsesWeightsOfAnotherVersion) {
  const CheckResult result =
      schedule_of("pp2.pipedream-mb4-clip_off",
                  of_rank(0, [](Rows& rows) { row_of(rows, "B", 3)->version = 0; }));

  const CheckResult flushed =
      schedule_of("pp2.1f1b-mb2-steps2", of_rank(0, [](Rows& rows) {
                    std::find_if(rows.rbegin(), rows.rend(), [](const auto& row) {
                      return row.kind == "F";
                    })->version = 0;
                  }));

  EXPECT_THAT(result.findings.at(0).text,
              HasSubstr("B of chunk 0 mb 3 used weights of version 0, 2 was due"));
  EXPECT_THAT(flushed.findings.at(0).text,
              HasSubstr("F of chunk 0 mb 1 used weights of version 0, 1 was due"));
  EXPECT_EQ(flushed.findings.at(0).step, 1);
}

TEST(ScheduleCheck, DivergesForActionsThatDoNotExist) {
  for (const auto& [kind, chunk, mb] :
       {std::tuple("G", 0, 0), std::tuple("F", 2, 0), std::tuple("B", 1, 3),
        std::tuple("send_F", 1, 0), std::tuple("recv_F", 0, 0)}) {
    const CheckResult result = schedule_of("pp2.1f1b-mb3-steps1", of_rank(1, [&](Rows& rows) {
                                             rows[2].kind = kind;
                                             rows[2].chunk = chunk;
                                             rows[2].mb = mb;
                                           }));

    EXPECT_EQ(
        result.findings.at(0).text,
        fmt::format("action 3: {} of chunk {} mb {} is no action of this case", kind, chunk, mb));
  }
}

TEST(ScheduleCheck, DivergesWhenAListOrALedgerIsMissing) {
  const CheckResult step = schedule_of(
      "pp2.1f1b-mb3-steps2", of_rank(0, [](Rows& rows) { rows.resize(rows.size() / 2); }));
  const CheckResult rank =
      schedule_of("pp2.1f1b-mb3", of_rank(1, [](Rows& rows) { rows.clear(); }));
  const CheckResult all = schedule_of("pp2.1f1b-mb3", [](int, Rows& rows) { rows.clear(); });

  EXPECT_EQ(step.findings.at(0).text, "2 lists that end with a step were due, the ledger has 1");
  EXPECT_EQ(rank.findings.at(0).rank, 1);
  EXPECT_EQ(all.findings.size(), 2u);
  EXPECT_EQ(all.verdict, Verdict::diverges);
}

TEST(ScheduleCheck, OfAForeignCandidateIsNotCompared) {
  const CheckResult without =
      schedule_of("pp2.1f1b-mb3", [](int, Rows& rows) { rows.clear(); }, {.foreign = true});
  const CheckResult with =
      schedule_of("pp2.1f1b-mb3", [](int, Rows& rows) { rows.pop_back(); }, {.foreign = true});

  for (const CheckResult* result : {&without, &with}) {
    EXPECT_EQ(result->verdict, Verdict::conforms);
    EXPECT_THAT(result->notes.at(0), StartsWith("not compared: "));
  }
  EXPECT_FALSE(without.evidence);
}

}  // namespace
}  // namespace meshparity
