#include "matrix/checks/owners.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

/// gpt-micro on two replicas: 4 samples of 5 tokens, two a replica.
class OwnerCase {
 public:
  OwnerCase() : made("gpt-micro.dp2.sgd-steps1.fp64.host-threads") {
    made.add("loss.token", {4, 5}, std::vector<double>(20, 1.0)).spec.phase = Phase::loss;
  }

  /// Each replica holds two samples from the first that is given for it.
  CheckResult coverage(std::int64_t first, std::int64_t second) {
    made.give(0, "loss.token", BoxPlacement{{Box{{first, 0}, {2, 5}}}}, "tp");
    made.give(1, "loss.token", BoxPlacement{{Box{{second, 0}, {2, 5}}}}, "tp");
    Evidence evidence = made.write();
    if (with_model) {
      evidence.model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
    }
    return result_of(judge(evidence), "coverage");
  }

  MadeCase made;
  bool with_model = true;
};

TEST(Owners, ConformWhenEachReplicaHoldsItsSamples) {
  EXPECT_EQ(OwnerCase().coverage(0, 2).verdict, Verdict::conforms);
}

// All is covered once, and every value is right where it is declared to lie.
TEST(Owners, DivergeWhenReplicasHoldEachOthersSamples) {
  const CheckResult result = OwnerCase().coverage(2, 0);

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.verdict, Verdict::diverges);
  EXPECT_EQ(result.findings[0].coordinate, "dp0");
  EXPECT_THAT(
      result.findings[0].text,
      HasSubstr("holds 10 elements from [2, 0], where 10 elements from [0, 0] are its own"));
}

TEST(Owners, OfAForeignCandidateOrAnUnknownModelAreItsOwnAffair) {
  OwnerCase unknown;
  unknown.with_model = false;
  OwnerCase foreign;
  foreign.made.edit_header = [](int, DumpHeader& header) { header.foreign = true; };

  EXPECT_EQ(unknown.coverage(2, 0).verdict, Verdict::conforms);
  EXPECT_EQ(foreign.coverage(2, 0).verdict, Verdict::conforms);
}

// Three boxes in a row are one part.
TEST(Owners, DoNotAskHowAPartIsCutIntoBoxes) {
  OwnerCase owner;
  owner.made.give(0, "loss.token",
                  BoxPlacement{{Box{{0, 0}, {1, 3}}, Box{{0, 3}, {1, 2}}, Box{{1, 0}, {1, 5}}}},
                  "tp");
  owner.made.give(1, "loss.token", BoxPlacement{{Box{{2, 0}, {2, 5}}}}, "tp");
  Evidence evidence = owner.made.write();
  evidence.model = load_named_model(MESHPARITY_MODELS, "gpt-micro");

  EXPECT_EQ(result_of(judge(evidence), "coverage").verdict, Verdict::conforms);
}

}  // namespace
}  // namespace meshparity
