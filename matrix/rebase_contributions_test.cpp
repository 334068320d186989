#include "matrix/rebase_contributions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "matrix/made_case.hpp"
#include "matrix/rebase_state.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DumpReader state_of(MadeCase& made) {
  made.level = Level::all;
  const Evidence evidence = made.write();
  const auto file = made.folder() / "state.h5";
  write_state(evidence.spec, DumpSet(evidence.reference), DumpSet(evidence.candidate), file);
  return DumpReader(file);
}

/// Elements first, first+1 of four.
Placement half(std::int64_t first) {
  return BoxPlacement{{Box{{first}, {2}}}};
}

/// The gradient of w on every rank of `id`, and that each put rank + 10, rank + 20, ... into it.
void give_gradient(MadeCase& made, int ranks, const std::string& shared_over,
                   std::int64_t elements = 4) {
  made.add("w", {4}, {1, 2, 3, 4}).spec.phase = Phase::grad;
  for (int rank = 0; rank < ranks; ++rank) {
    made.give(rank, "w", whole(std::array<std::int64_t, 1>{4}), shared_over);
  }
  made.add_local = [elements](int rank, DumpWriter& writer) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < elements; ++i) {
      values.push_back(rank + 10.0 * static_cast<double>(i + 1));
    }
    writer.write_local("step0/grad.dp/contribution/w", std::array{elements}, values);
  };
}

TEST(RebaseContributions, OfAGradientAreThoseAlongDp) {
  MadeCase made("gpt-tiny.dp2.plain.fp64.host-threads");
  give_gradient(made, 2, "dp,tp");  // there is one tensor rank

  const DumpReader state = state_of(made);

  EXPECT_THAT(state.read_local("contribution/grad/w/step0/0"), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(state.read_local("contribution/grad/w/step0/1"), ElementsAre(11, 21, 31, 41));
  EXPECT_EQ(state.local_paths().size(), 2u);
}

// What several tensor ranks hold may be one number or a share; the copies do not tell.
TEST(RebaseContributions, OfAGradientThatTensorRanksShareAreLeftOut) {
  MadeCase made("gpt-tiny.tp2.plain.fp64.host-threads");
  give_gradient(made, 2, "tp");

  EXPECT_THAT(state_of(made).local_paths(), IsEmpty());
}

TEST(RebaseContributions, OfAnotherSizeThanThePieceAreLeftOut) {
  MadeCase made("gpt-tiny.dp2.plain.fp64.host-threads");
  give_gradient(made, 2, "dp", 3);

  EXPECT_THAT(state_of(made).local_paths(), IsEmpty());
}

TEST(RebaseContributions, OfARowParallelLinearAreThoseAlongTpByMicroBatch) {
  MadeCase made("gpt-tiny.tp2.mb2.fp64.host-threads");
  made.add("layer1.mlp.out", {4}, {1, 2, 3, 4}).spec.phase = Phase::forward;
  for (int rank = 0; rank < 2; ++rank) {
    made.give(rank, "layer1.mlp.out", half(0), "tp").mb = 0;
    made.give(rank, "layer1.mlp.out", half(2), "tp").mb = 1;
  }
  made.add_local = [](int rank, DumpWriter& writer) {
    const std::string place = "step0/mlp.down/contribution/layer1/mb";
    writer.write_local(place + "0", std::array<std::int64_t, 1>{2}, std::vector{rank + 1.0, 5.0});
    writer.write_local(place + "1", std::array<std::int64_t, 1>{2}, std::vector{rank + 3.0, 6.0});
  };

  const DumpReader state = state_of(made);

  EXPECT_THAT(state.read_local("contribution/forward/layer1.mlp.out/step0/0"),
              ElementsAre(1, 5, 3, 6));
  EXPECT_THAT(state.read_local("contribution/forward/layer1.mlp.out/step0/1"),
              ElementsAre(2, 5, 4, 6));
}

}  // namespace
}  // namespace meshparity
