// Laws of operations asked of whole dumps of level all.
#include "reference/laws/forward_laws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/float_run.hpp"
#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ForwardLaws, ACleanCandidateKeepsThoseOfEveryOperation) {
  for (const auto& [model, laws] : {std::pair("gpt-micro", 7), std::pair("mixed-micro", 12)}) {
    const RebaseCase made(std::string(model) + ".single.steps2.fp64.host-threads", Level::all);
    const auto rebased = made.rebase("own", made.clean());

    EXPECT_THAT(broken(rebased, made.clean()), IsEmpty()) << model;
    int operations = 0;
    for (const LawRow& law : DumpReader(rebased).laws()) {
      operations += law.phase == Phase::forward ? 1 : 0;
      EXPECT_EQ(law.missing, "") << law.law << " " << law.record;
    }
    EXPECT_EQ(operations, 2 * laws) << model;  // five a layer, the final norm, the logits
  }
}

TEST(ForwardLaws, ACandidateInFloatKeepsThemInEveryLane) {
  for (const std::string precision : {"fp32", "tf32", "bf16"}) {
    const std::string id = "mixed-micro.single.steps2." + precision + ".host-threads";
    const RebaseCase made(id, Level::all);
    const ScratchFolder scratch;
    Job job;
    job.case_id = id;
    job.out = scratch.path();
    job.models = MESHPARITY_MODELS;
    job.level = Level::all;
    write_float_run(job, {3, 5});
    const auto candidate = scratch / rank_file_name(0);

    EXPECT_THAT(broken(made.rebase("float", candidate), candidate), IsEmpty()) << precision;
  }
}

/// What breaks when the last element of a record of step 1 is off.
std::set<std::string> broken_by_last(const RebaseCase& made, const std::string& record,
                                     double relative) {
  const std::string name = record + std::to_string(relative > 1e-16);
  const auto candidate = made.altered(name, [&](const Piece& piece, Values& values) {
    values.back() *= is(piece, 1, Phase::forward, record) ? 1 + relative : 1;
    return true;
  });
  return broken(made.rebase(name, candidate), candidate);
}

// The law of the record itself, and of the operation that reads it.
TEST(ForwardLaws, ANumberOffInItsLastDigitsBreaksItsOperation) {
  const RebaseCase made(id_of("drop0-smooth0"), Level::all);
  EXPECT_THAT(broken_by_last(made, "logits", 1e-11), ElementsAre("linear logits step 1"));
  EXPECT_THAT(broken_by_last(made, "layer0.attn.out", 1e-11),
              ElementsAre("linear layer0.attn.out step 1"));
  EXPECT_THAT(broken_by_last(made, "layer0.attn.probs", 1e-11),
              ElementsAre("softmax layer0.attn.probs step 1"));
  EXPECT_TRUE(broken_by_last(made, "layer0.norm1", 1e-11).contains("norm layer0.norm1 step 1"));
  EXPECT_THAT(broken_by_last(made, "logits", 1e-17), IsEmpty());
}

}  // namespace
}  // namespace meshparity::reference
