// What `compare` knows of a layout: with the model's spec at hand owners and due collectives too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "matrix/compare_dumps.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

/// gpt-micro on two replicas, without any ledger.
Comparison compared(const std::string& case_id, const std::filesystem::path& models) {
  MadeCase made(case_id);
  made.add("loss", {1}, {1}).spec.phase = Phase::loss;
  for (int rank = 0; rank < made.spec.mesh.world_size(); ++rank) {
    made.give(rank, "loss", whole(std::vector<std::int64_t>{1}), "dp,tp");
  }
  made.edit_ledgers = [](int, Ledgers& ledgers) { ledgers.collectives.clear(); };
  const Evidence evidence = made.write();
  CompareOptions options;
  options.models = models;
  return compare_dumps(evidence.reference, evidence.candidate, options);
}

CheckResult collectives(const Comparison& comparison) {
  CaseReport report;
  report.checks = comparison.checks;
  return result_of(report, "collectives");
}

constexpr const char* kDp2 = "gpt-micro.dp2.sgd-steps1.fp64.host-threads";

TEST(CompareLayouts, HoldsLedgersAgainstWhatWasDueWhereTheModelIsKnown) {
  const CheckResult result = collectives(compared(kDp2, MESHPARITY_MODELS));

  EXPECT_EQ(result.verdict, Verdict::diverges);
  EXPECT_THAT(result.findings.at(0).text, HasSubstr("tokens/scalar left out"));
}

TEST(CompareLayouts, SaysWhereTheModelIsNotKnown) {
  for (const char* models : {"", "no/such/folder"}) {
    const CheckResult result = collectives(compared(kDp2, models));

    EXPECT_EQ(result.verdict, Verdict::conforms);
    EXPECT_EQ(result.notes.at(0), "what was due is not compared: the model's spec is not at hand");
  }
}

TEST(CompareLayouts, RefusesAProbeWhichHasNoValues) {
  try {
    compared("gpt-micro.dp2.sgd-steps1.fp64.host-threads+probe", MESHPARITY_MODELS);
    FAIL() << "accepted";
  } catch (const UsageError& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("is a probe: its dump shows indices"));
  }
}

}  // namespace
}  // namespace meshparity
