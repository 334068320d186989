// The copy that computes is the rounded master, exactly; and with masters the optimizer's law
// speaks of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/laws/laws_of_step.hpp"
#include "reference/micro_case.hpp"
#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;

constexpr const char* kRecord = "final_norm.bias";

/// The laws of step 0 of a case whose dump holds these masters of kRecord, and nothing else.
std::vector<Law> laws_with(const std::string& precision, const Values& masters) {
  const ScratchFolder scratch;
  const CaseSpec spec = parse_case("gpt-micro.single." + precision + ".host-threads");
  DumpWriter writer(scratch / "state.h5", {});
  Piece piece;
  piece.record = kRecord;
  piece.phase = Phase::master;
  piece.placement = whole(std::vector<std::int64_t>{std::ssize(masters)});
  writer.write(piece, masters);
  writer.complete();
  const DumpReader dump(scratch / "state.h5");
  CandidateStep candidate(dump, 0);
  const Problem problem = micro_problem();
  return laws_of_step({problem, spec}, candidate);
}

Law law_of(const std::vector<Law>& laws, const std::string& name) {
  for (const Law& law : laws) {
    if (law.row.law == name && law.row.record == kRecord) {
      return law;
    }
  }
  throw Error("no law " + name);
}

TEST(ComputeCopy, IsTheMasterRoundedToFloat32) {
  const double third = 1.0 / 3;
  const Law law = law_of(laws_with("master64.fp32", {third, 1, -0.1}), "compute_copy");

  EXPECT_EQ(law.row.phase, Phase::param);
  EXPECT_THAT(law.values.expected, ElementsAre(static_cast<float>(third), 1, -0.1F));
  EXPECT_THAT(law.values.limit, testing::Each(0));
}

// 8 bits of mantissa: halves go to the even neighbour.
TEST(ComputeCopy, IsTheMasterRoundedToBfloat16) {
  const double place = 0x1p-7;
  const Law law = law_of(
      laws_with("plain.bf16", {1 + place / 2, 1 + place * 1.5, 1 + place * 0.5078125, -1 - place}),
      "compute_copy");

  EXPECT_THAT(law.values.expected, ElementsAre(1, 1 + 2 * place, 1 + place, -1 - place));
}

// As float32 each would be the tie.
TEST(ComputeCopy, OfADoubleIsRoundedOnce) {
  const double place = 0x1p-7;
  const double little = 0x1p-40;
  const Law law = law_of(laws_with("master64.bf16", {1 + place / 2 + little, 1 + place / 2 - little,
                                                     1 + 1.5 * place - little}),
                         "compute_copy");

  EXPECT_THAT(law.values.expected, ElementsAre(1 + place, 1, 1 + place));
}

TEST(ComputeCopy, IsOnlyThereWithMasters) {
  for (const Law& law : laws_with("plain.fp32", {1})) {
    EXPECT_NE(law.row.law, "compute_copy");
  }
}

TEST(ComputeCopy, TheOptimizerMovesTheMaster) {
  EXPECT_EQ(law_of(laws_with("plain.bf16", {1}), "update").row.phase, Phase::master);
  EXPECT_EQ(law_of(laws_with("plain.fp32", {1}), "update").row.phase, Phase::param);
}

}  // namespace
}  // namespace meshparity::reference
