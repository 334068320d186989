#include "matrix/rebase_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;

Placement part(std::int64_t start, std::int64_t extent) {
  return BoxPlacement{{{{start}, {extent}}}};
}

/// The state that two tensor ranks make of `made`, its pieces by "phase record step".
class State {
 public:
  explicit State(MadeCase& made) {
    const Evidence evidence = made.write();
    const auto file = made.folder() / "state.h5";
    write_state(evidence.spec, DumpSet(evidence.reference), DumpSet(evidence.candidate), file);
    reader_.emplace(file);
  }
  const DumpHeader& header() const { return reader_->header(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Piece& piece : reader_->pieces()) {
      names.push_back(record_text({piece.step, piece.phase, piece.record}));
    }
    return names;
  }
  std::vector<double> values(std::size_t piece) const {
    return reader_->read(reader_->pieces().at(piece));
  }

 private:
  std::optional<DumpReader> reader_;
};

constexpr const char* kTp2 = "gpt-tiny.tp2.plain.fp64.host-threads";

TEST(RebaseState, PutsThePiecesOfAllRanksTogether) {
  MadeCase made(kTp2);
  made.add("w", {4}, {0, 0, 0, 0}).spec.phase = Phase::param;
  made.give(0, "w", part(2, 2)).values = {{3, 4}};
  made.give(1, "w", part(0, 2)).values = {{1, 2}};

  const State state(made);

  EXPECT_THAT(state.names(), ElementsAre("param w step 0"));
  EXPECT_THAT(state.values(0), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(state.header().case_id, kTp2);
  EXPECT_EQ(state.header().world, 1);
}

TEST(RebaseState, TakesOneOfEqualCopies) {
  MadeCase made(kTp2);
  made.add("m", {2}, {0, 0}).spec.phase = Phase::moment1;
  made.give(0, "m", part(0, 2), "tp").values = {{1, 2}};
  made.give(1, "m", part(0, 2), "tp").values = {{1, 2}};

  EXPECT_THAT(State(made).values(0), ElementsAre(1, 2));
}

TEST(RebaseState, HoldsWhatLawsAndRestartsNeedAndNoActivations) {
  MadeCase made(kTp2);
  const auto add = [&](const std::string& name, Phase phase, int step) {
    MadeRecord& record = made.add(name, {1}, {1});
    record.spec.phase = phase;
    record.spec.type = phase == Phase::exact ? ElementType::int64 : ElementType::float64;
    record.step = step;
    for (const int rank : {0, 1}) {
      made.give(rank, name, part(0, 1), "tp").step = step;
    }
  };
  add("x", Phase::forward, 0);
  add("dx", Phase::backward, 0);
  add("loss.token", Phase::loss, 0);
  add("g", Phase::grad, 0);
  add("clip_coef", Phase::scalar, 0);
  add("m", Phase::moment1, 0);
  add("v", Phase::moment2, 0);
  add("w32", Phase::master, 0);
  add("w", Phase::param, 0);
  add("step_count", Phase::exact, 0);
  add("sample_ids", Phase::exact, 0);
  add("clip", Phase::margin, 0);
  add("later", Phase::param, 1);

  EXPECT_THAT(State(made).names(),
              ElementsAre("loss loss.token step 0", "grad g step 0", "scalar clip_coef step 0",
                          "moment1 m step 0", "moment2 v step 0", "master w32 step 0",
                          "param w step 0", "exact step_count step 0", "param later step 1"));
}

TEST(RebaseState, LeavesOutWhatIsNotHeldExactlyOnce) {
  MadeCase made(kTp2);
  for (const char* name : {"hole", "twice", "strange", "unlike", "whole"}) {
    made.add(name, {4}, {1, 2, 3, 4}).spec.phase = Phase::param;
  }
  made.give(0, "hole", part(0, 2));
  made.give(1, "hole", part(3, 1));
  made.give(0, "twice", part(0, 3));
  made.give(1, "twice", part(2, 2));
  made.give(0, "strange", part(0, 2));
  made.give(1, "strange", part(2, 2)).type = ElementType::float32;
  made.give(0, "unlike", part(0, 4), "tp");
  made.give(1, "unlike", part(0, 4), "");
  made.give(0, "whole", part(0, 2));
  made.give(1, "whole", part(2, 2));

  EXPECT_THAT(State(made).names(), ElementsAre("param whole step 0"));
}

TEST(RebaseState, GoesOnWithoutATornRank) {
  MadeCase made(kTp2);
  for (const char* name : {"cut", "shared"}) {
    made.add(name, {4}, {1, 2, 3, 4}).spec.phase = Phase::param;
  }
  made.give(0, "cut", part(0, 2));
  made.give(1, "cut", part(2, 2));
  made.give(0, "shared", part(0, 4), "tp");
  made.give(1, "shared", part(0, 4), "tp");
  made.torn = {1};

  EXPECT_THAT(State(made).names(), ElementsAre("param shared step 0"));
}

}  // namespace
}  // namespace meshparity
