#include "reference/laws/reduction_laws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Wide kU = 0x1p-53L;
const StepType kFp64 = step_type(Precision::fp64);

// 3 - 5 + 8 over 4: two additions of magnitudes 16, over 4, and two roundings of 1.5.
TEST(ReductionLaws, TheLimitCountsAdditionsAndWhatFollows) {
  const std::array<Wide, 3> terms = {3, -5, 8};
  const Demand gradient = ReductionLaw{kFp64, 4, 0, 2}.element(terms);
  EXPECT_EQ(gradient.value, 1.5L);
  EXPECT_EQ(gradient.limit, (2 * 16 / 4 + 2 * 1.5L) * kU);

  const Demand biased = ReductionLaw{kFp64, 1, -7, 1}.element(terms);
  EXPECT_EQ(biased.value, -1);
  EXPECT_EQ(biased.limit, (2 * 16 + 1 + 7) * kU);
}

// 256 + 1 + 1 over 2 in bfloat16: 258 is a number there, its neighbours are 2 away. 1.003
// becomes 1.
TEST(ReductionLaws, ARoundedSumIsWithinHalfASpacingOfItsRoundedTerms) {
  const std::array<Wide, 3> terms = {256, 1.003L, 1};
  const Demand demand = ReductionLaw{kFp64, 2, 0, 2, true}.element(terms);
  EXPECT_EQ(demand.value, 129);
  EXPECT_EQ(demand.limit, (1 + 2 * 258 * kU) / 2 + 2 * 129 * kU);
  const std::array<Wide, 2> ties = {1 + 0x1p-8L, -1 - 0x3p-8L};  // to 1 and to -1 - 2^-6
  EXPECT_EQ((ReductionLaw{kFp64, 1, 0, 0, true}.element(ties).value), -0x1p-6L);
}

/// A copy of the clean dump that says of layer0.norm1.weight's gradient in step 1 what three ranks
/// put in; `error` is how far the first rank's share is off, relatively.
std::filesystem::path with_contributions(const RebaseCase& made, const std::string& name,
                                         double tokens, double error) {
  const std::filesystem::path file = made.altered(
      name, [](const Piece&, Values&) { return true; },
      [&](const DumpReader& from, DumpWriter& to) {
        const Values sum = record_of(from, 1, Phase::grad, "layer0.norm1.weight").value();
        for (int rank = 0; rank < 3; ++rank) {
          Values share;
          for (const double element : sum) {
            share.push_back(element * tokens * (rank == 1 ? 0.5 : 0.25));
            share.back() *= rank == 0 ? 1 + error : 1;
          }
          const std::array<std::int64_t, 1> shape = {std::ssize(share)};
          to.write_local("contribution/grad/layer0.norm1.weight/step1/" + std::to_string(rank),
                         shape, share);
        }
      });
  return file;
}

TEST(ReductionLaws, ARankThatIsLeftOutOrRoundedOnItsWayBreaksTheLaw) {
  const RebaseCase made(id_of("drop0-maskfull"), Level::all);
  const DumpReader clean(made.clean());
  const double tokens = record_of(clean, 1, Phase::scalar, "token_count").value().at(0);
  const auto names = [&](const std::string& name, double error) {
    const auto candidate = with_contributions(made, name, tokens, error);
    return broken(made.rebase(name, candidate), candidate);
  };
  EXPECT_THAT(names("right", 0), IsEmpty());
  EXPECT_THAT(names("rounded", 0x1p-9), ElementsAre("reduction layer0.norm1.weight step 1"));
  EXPECT_THAT(names("twice", 1), ElementsAre("reduction layer0.norm1.weight step 1"));
}

}  // namespace
}  // namespace meshparity::reference
