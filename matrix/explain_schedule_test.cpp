// Timelines drawn by hand for two and three stages.
#include "matrix/explain_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "matrix/explain.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string drawn(const std::string& rest, std::size_t columns = 100) {
  const CaseSpec spec = parse_case("gpt-tiny." + rest + ".fp64.host-threads");
  ModelSpec model;
  model.layers = 6;
  return schedule_text(schedule_view({spec, model}).value(), columns);
}

// F 1, B 2: stage 0 waits from 2 to 4 and from 6 to 7.
TEST(ExplainSchedule, DrawsARowOfTimeAStage) {
  EXPECT_THAT(drawn("pp2.1f1b-mb2"), HasSubstr("\nschedule 1f1b: 2 stages, 1 chunk each, 2 "
                                               "micro-batches; F takes 1 unit, B 2\n"
                                               "  stage 0  | F0 F1 .  .  B0--- .  B1---\n"
                                               "  stage 1  | .  F0 B0--- F1 B1--- .  .\n"
                                               "  bubble 3 of 9 units: 33.3 % of the whole time "
                                               "(beta_tot), 50.0 % of the ideal time (beta_id)\n"));
}

TEST(ExplainSchedule, TellsChunksOfAStageApart) {
  const std::string text = drawn("pp2.zbv-mb3");

  EXPECT_THAT(text, HasSubstr("| F0a F1a F2a F0b B0b W0b"));
  EXPECT_THAT(text, HasSubstr("chunks 0 3: embedding, block 0, block 5, head"));
  EXPECT_THAT(text, HasSubstr("chunks 1 2: blocks 1-4"));
  EXPECT_THAT(text,
              HasSubstr("bubble 0 of 19 units of the longest stage (they are shifted): 0.0 %"));
}

TEST(ExplainSchedule, SaysWhatIsInFlightAndHowManyVersionsAreKept) {
  const std::string text = drawn("pp3.zbh2-mb5");

  EXPECT_THAT(text, HasSubstr("  stage 0  | 5     5     chunks 0: embedding, blocks 0-1\n"));
  EXPECT_THAT(text, HasSubstr("  stage 2  | 1     5     chunks 2: block 5, head\n"));
  EXPECT_THAT(drawn("pp2.pipedream-mb4-clip_off"), HasSubstr("keeps 2 versions of its weights"));
}

TEST(ExplainSchedule, SaysWhenTheBarrierIsBack) {
  EXPECT_THAT(drawn("pp2.zbh1-mb2"), HasSubstr("the clip norm sums over all stages"));
  EXPECT_THAT(drawn("pp2.zbh1-mb2-clip_off-lscale"),
              HasSubstr("the check for non-finite gradients sums over all stages"));
  EXPECT_THAT(drawn("pp2.zbh1-mb2-lscale"), HasSubstr("non-finite gradients sum over all stages"));
  EXPECT_THAT(drawn("pp2.zbh1-mb2-clip_off"), Not(HasSubstr("barrier")));
  EXPECT_THAT(drawn("pp2.1f1b-mb2"), Not(HasSubstr("barrier")));
}

TEST(ExplainSchedule, GoesOnBelowWhereItIsWiderThanTheTerminal) {
  const std::string text = drawn("pp2.gpipe-mb12", 60);

  EXPECT_THAT(text, HasSubstr("  units 0 to 11\n  stage 0  | F0-"));
  EXPECT_THAT(text, HasSubstr("  units 33 to 39\n  stage 0  | "));
  EXPECT_THAT(drawn("pp2.gpipe-mb12", 30), HasSubstr("cut behind 32 of 39 units (--json has all)"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" | ") != std::string::npos && line.find("chunks") == std::string::npos) {
      EXPECT_LE(line.size(), 60u) << line;
    }
  }
}

TEST(ExplainSchedule, GivesProgramsEveryAction) {
  const CaseSpec spec = parse_case("gpt-tiny.pp2.1f1b-mb2.fp64.host-threads");
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-tiny");
  const nlohmann::json json =
      nlohmann::json::parse(explanation_json(explain(spec, model, ExplainOptions{})));

  const nlohmann::json& stages = json.at("schedule").at("stages");
  EXPECT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].at("actions").at(1).at("kind"), "send_F");
  EXPECT_EQ(stages[1].at("actions").at(0).at("kind"), "recv_F");
  EXPECT_EQ(json.at("schedule").at("bubble").at("time"), 3);
  EXPECT_EQ(json.at("schedule").at("barrier"), "");
}

TEST(ExplainSchedule, HasNothingToSayWithoutAPipeline) {
  const CaseSpec spec = parse_case("gpt-tiny.dp2.mb2.fp64.host-threads");

  EXPECT_FALSE(schedule_view({spec, ModelSpec{}}).has_value());
}

}  // namespace
}  // namespace meshparity
