#include "matrix/minimize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "matrix/case_planner.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Sighting kSought{Verdict::diverges, "forward: forward layer*.out"};
const Sighting kConforms{Verdict::conforms, ""};

bool has_tp_and_sp(const CaseSpec& spec) {
  return spec.mesh.degree(Axis::tp) > 1 && spec.sequence_parallel;
}

/// Cases that no program runs: a rule says what each would be found to be.
class MinimizeTest : public testing::Test {
 protected:
  using Rule = std::function<Sighting(const CaseSpec& spec)>;

  static Rule diverges_if(bool (*needed)(const CaseSpec& spec)) {
    return [needed](const CaseSpec& spec) { return needed(spec) ? kSought : kConforms; };
  }
  Minimized minimized(const std::string& id, const Rule& rule, int limit = 48) {
    asked_.clear();
    told_.clear();
    CasePlanner planner(source_);
    const MinimizeOracle oracle{[&](const CaseSpec& spec) { return is_legal(planner, spec); },
                                [&](const CaseSpec& spec) {
                                  asked_.push_back(format_case(spec));
                                  return rule(spec);
                                },
                                [&](const MinimizeStep& step) { told_.push_back(step); }};
    return minimize(parse_case(id), oracle, limit);
  }
  static bool is_legal(CasePlanner& planner, const CaseSpec& spec) {
    try {
      return planner.plan(spec).excluded.empty();
    } catch (const UsageError&) {
      return false;
    }
  }

  CaseSource source_{"", MESHPARITY_MODELS, [] { return std::string(); }};
  std::vector<std::string> asked_;
  std::vector<MinimizeStep> told_;
};

TEST_F(MinimizeTest, KeepsTheTwoFeaturesThatMustComeTogetherAndNothingElse) {
  const Minimized found =
      minimized("gpt-tiny.dp2-tp4.sp-mb3-order_dp_tp_cp_ep_pp-sgd.fp64.host-threads",
                diverges_if(has_tp_and_sp));

  EXPECT_EQ(format_case(found.smallest), "gpt-micro.tp2.sp-steps1.fp64.host-threads");
  EXPECT_THAT(found.interacting, ElementsAre("tp2", "sp"));
  EXPECT_THAT(found.defaults, IsEmpty());
  EXPECT_TRUE(found.complete);
}

TEST_F(MinimizeTest, NoCaseIsAskedTwiceAndEveryStepIsTold) {
  const Minimized found =
      minimized("gpt-tiny.dp2-tp4.sp-mb3-sgd.fp64.host-threads", diverges_if(has_tp_and_sp));

  EXPECT_EQ(std::set<std::string>(asked_.begin(), asked_.end()).size(), asked_.size());
  EXPECT_EQ(found.runs, static_cast<int>(asked_.size()));
  ASSERT_EQ(told_.size(), asked_.size());
  for (std::size_t i = 0; i < told_.size(); ++i) {
    EXPECT_EQ(told_[i].id, asked_[i]);
  }
  const std::vector<std::string> before = asked_;
  minimized("gpt-tiny.dp2-tp4.sp-mb3-sgd.fp64.host-threads", diverges_if(has_tp_and_sp));
  EXPECT_EQ(asked_, before);
}

TEST_F(MinimizeTest, FindsTheSmallestDegreeThatIsLegalAndStillDiverges) {
  const Minimized found =
      minimized("gpt-tiny.dp4.mb3.fp64.host-threads", diverges_if([](const CaseSpec& spec) {
                  return spec.mesh.degree(Axis::dp) > 2 && spec.micro_batches > 1;
                }));

  // The micro model's 4 samples cannot be dealt to 3 replicas twice: the model stays.
  EXPECT_EQ(format_case(found.smallest), "gpt-tiny.dp3.mb2-steps1.fp64.host-threads");
  EXPECT_THAT(found.interacting, ElementsAre("dp3", "mb2"));
  EXPECT_TRUE(found.complete);
}

TEST_F(MinimizeTest, AnotherCauseIsNotTheSameDivergence) {
  const Minimized found =
      minimized("gpt-micro.tp4.sp-mb2.fp64.host-threads", [](const CaseSpec& spec) {
        const Sighting other{Verdict::diverges, "grad: grad head.weight"};
        return spec.micro_batches > 1 ? kSought : other;
      });

  EXPECT_EQ(format_case(found.smallest), "gpt-micro.single.mb2-steps1.fp64.host-threads");
  EXPECT_THAT(found.interacting, ElementsAre("mb2"));
}

TEST_F(MinimizeTest, NamesTheDefaultWithoutWhichTheCaseConforms) {
  const Minimized found = minimized(
      "gpt-micro.tp2.mb2.fp64.host-threads",
      diverges_if([](const CaseSpec& spec) { return spec.micro_batches > 1 && spec.dropout; }));

  EXPECT_THAT(found.interacting, ElementsAre("mb2"));
  EXPECT_THAT(found.defaults, ElementsAre("dropout"));
}

TEST_F(MinimizeTest, StepsMachineAndPrecisionAreNamedWhereTheyAreNeeded) {
  const Minimized found =
      minimized("llama-tiny.dp2.plain.fp32.host-procs", diverges_if([](const CaseSpec& spec) {
                  return spec.steps > 1 && spec.precision == Precision::fp32 &&
                         spec.machine == Machine::host_procs;
                }));

  EXPECT_EQ(format_case(found.smallest), "llama-micro.single.steps2.fp32.host-procs");
  EXPECT_THAT(found.interacting, ElementsAre("steps2", "fp32", "host-procs"));
}

TEST_F(MinimizeTest, WhatHappensToTheCaseStays) {
  const std::string fault = "+skip_rowlinear_sum-l0-r1";
  const Minimized found = minimized("gpt-tiny.dp2-tp4.plain.fp64.host-threads" + fault,
                                    [](const CaseSpec&) { return kSought; });

  // Rank 1 must be there.
  EXPECT_EQ(found.smallest.mesh.world_size(), 2);
  EXPECT_THAT(format_case(found.smallest), testing::EndsWith(fault));
}

TEST_F(MinimizeTest, SaysWhenTheRunsDidNotSuffice) {
  const Minimized found =
      minimized("gpt-tiny.dp2-tp4.sp-mb3-sgd.fp64.host-threads", diverges_if(has_tp_and_sp), 4);

  EXPECT_FALSE(found.complete);
  EXPECT_EQ(asked_.size(), 4u);
  EXPECT_TRUE(has_tp_and_sp(found.smallest));
}

TEST_F(MinimizeTest, CountsTheCasesThatDecideNothing) {
  const Minimized found =
      minimized("gpt-micro.tp2.steps1.fp64.host-threads", [](const CaseSpec& spec) {
        const Sighting unknown{Verdict::inconclusive, "liveness"};
        return spec.mesh.degree(Axis::tp) > 1 ? kSought : unknown;
      });

  EXPECT_EQ(format_case(found.smallest), "gpt-micro.tp2.steps1.fp64.host-threads");
  EXPECT_EQ(found.undecided, 1);
}

TEST_F(MinimizeTest, RefusesACaseThatConforms) {
  const auto refusal = message_of<UsageError>(
      [&] { minimized("gpt-micro.tp2.plain.fp64.host-threads", diverges_if(has_tp_and_sp)); });

  EXPECT_THAT(refusal, HasSubstr("gpt-micro.tp2.plain.fp64.host-threads conforms"));
}

TEST(Sighting, ForgetsTheNumberOfALayer) {
  CaseReport report;
  report.verdict = Verdict::diverges;
  report.checks.resize(1);
  report.checks[0].findings.resize(1);
  Finding& finding = report.checks[0].findings[0];
  finding.check = "forward";
  finding.record = "layer12.norm1.out";

  EXPECT_EQ(sighting_of(report).cause, "forward: forward layer*.norm1.out");
  finding.record = "";
  EXPECT_EQ(sighting_of(report).cause, "forward");
}

}  // namespace
}  // namespace meshparity
