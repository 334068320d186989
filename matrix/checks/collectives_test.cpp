// Ledgers as a conforming run would write them, and then one row moved, dropped, doubled, in
// another group or of another size.
#include "matrix/checks/collectives.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/expect/calls.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using Rows = std::vector<CollectiveRow>;

void number(Rows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].sequence = static_cast<std::int64_t>(i) + 1;
  }
}

/// dp2-tp2 of gpt-micro with the ledgers that are due; `edit` changes those of one rank.
class LedgerCase {
 public:
  explicit LedgerCase(const std::string& rest = "dp2-tp2.sp-mb2-steps2.fp64.host-threads",
                      const std::string& name = "gpt-micro")
      : model(load_named_model(MESHPARITY_MODELS, name)), made(name + "." + rest) {
    made.add("loss", {1}, {1}).spec.phase = Phase::loss;
    for (int rank = 0; rank < made.spec.mesh.world_size(); ++rank) {
      made.give(rank, "loss", whole(std::vector<std::int64_t>{1}), "dp,tp");
    }
  }

  CheckResult check(int rank, const std::function<void(Rows&)>& edit) {
    made.edit_ledgers = [&](int each, Ledgers& ledgers) {
      ledgers.collectives = expect::calls_of({made.spec, model}, made.level, each);
      if (each == rank || rank < 0) {
        edit(ledgers.collectives);
      }
    };
    Evidence evidence = made.write();
    evidence.model = with_model ? model : ModelSpec{};
    return result_of(judge(evidence), "collectives");
  }

  ModelSpec model;
  MadeCase made;
  bool with_model = true;
};

/// The call at this site in the last step.
Rows::iterator at_site(Rows& rows, const std::string& site) {
  const auto found = std::find_if(rows.rbegin(), rows.rend(),
                                  [&](const CollectiveRow& row) { return row.site == site; });
  return std::prev(found.base());
}

std::string texts(const CheckResult& result) {
  std::string all;
  for (const Finding& finding : result.findings) {
    all += fmt::format("rank {} ({}) step {}: {} [{}]\n", finding.rank, finding.coordinate,
                       finding.step, finding.text, finding.follows_from);
  }
  return all;
}

TEST(Collectives, ConformWhenEveryRankDidWhatWasDue) {
  const CheckResult result = LedgerCase().check(-1, [](Rows&) {});

  EXPECT_EQ(result.verdict, Verdict::conforms) << texts(result);
  EXPECT_TRUE(result.evidence);
  EXPECT_GT(result.compared, 4 * 2 * 2 * 18);
  ASSERT_EQ(result.traffic.size(), 2u);
  EXPECT_EQ(result.traffic[0].axis, "tp");
  EXPECT_EQ(result.traffic[1].calls, 4 * 2 * 22);
}

TEST(Collectives, DivergeWhenOneRankLeavesACallOut) {
  const CheckResult result = LedgerCase().check(3, [](Rows& rows) {
    rows.erase(at_site(rows, "layer0.mlp.down/forward"));
    number(rows);
  });

  ASSERT_EQ(result.verdict, Verdict::diverges);
  const Finding& first = result.findings.front();
  EXPECT_EQ(first.rank, 3);
  EXPECT_EQ(first.coordinate, "dp1 tp1");
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.mb, 1);
  EXPECT_THAT(first.text, HasSubstr("layer0.mlp.down/forward left out: expected reduce_scatter of "
                                    "40 float64 at layer0.mlp.down/forward mb 1 in tp group 2 3"));
  // The other rank of its group sees it, and that follows.
  ASSERT_EQ(result.findings.size(), 2u) << texts(result);
  EXPECT_EQ(result.findings[1].follows_from, "collectives of rank 3 (dp1 tp1) step 1");
}

TEST(Collectives, DivergeWhenAllRanksLeaveTheSameCallOut) {
  const CheckResult result = LedgerCase().check(-1, [](Rows& rows) {
    rows.erase(at_site(rows, "layer0.mlp.down/forward"));
    number(rows);
  });

  EXPECT_EQ(result.findings.size(), 4u) << texts(result);
}

TEST(Collectives, DivergeWhenARowIsMovedDoubledOrOfAnotherGroupOrCount) {
  const auto text = [](const std::function<void(Rows&)>& edit) {
    const CheckResult result = LedgerCase().check(0, edit);
    EXPECT_EQ(result.verdict, Verdict::diverges);
    return texts(result);
  };

  EXPECT_THAT(text([](Rows& rows) {
                std::iter_swap(at_site(rows, "head/forward"), at_site(rows, "loss.max/forward"));
                number(rows);
              }),
              HasSubstr("head/forward out of order"));
  EXPECT_THAT(text([](Rows& rows) {
                const auto place = at_site(rows, "norm/scalar");
                rows.insert(place, *place);
                number(rows);
              }),
              HasSubstr("norm/scalar done twice"));
  EXPECT_THAT(
      text([](Rows& rows) { at_site(rows, "tokens/scalar")->group = "0 1"; }),
      HasSubstr("in dp group 0 2, 576 bytes; did all_reduce of 72 int64 at tokens/scalar mb "
                "0 in dp group 0 1"));
  EXPECT_THAT(text([](Rows& rows) { at_site(rows, "grad.sp/grad")->count -= 1; }),
              HasSubstr("grad.sp/grad another group, kind or size"));
  EXPECT_THAT(text([](Rows& rows) { at_site(rows, "grad.sp/grad")->step = 5; }),
              HasSubstr("step 5"));
}

// Steps overlap there, so what a step did in its own order may still come too early or too late.
TEST(Collectives, OfAPipelineThatIsNeverFlushedHaveOneOrderOverTheRun) {
  const auto of = [](const std::function<void(Rows&)>& edit) {
    return LedgerCase("tp2-pp2.pipedream-mb4-clip_off-steps1.fp64.host-threads", "llama-micro")
        .check(3, edit);
  };
  const auto second = [](const CollectiveRow& row) {
    return row.kind == "receive" && row.step == 1;
  };

  EXPECT_EQ(of([](Rows&) {}).verdict, Verdict::conforms);
  const CheckResult late = of([&](Rows& rows) {
    const auto at = std::find_if(rows.begin(), rows.end(), second);
    std::rotate(at, std::next(at), std::next(at, 5));
    number(rows);
  });
  const CheckResult other =
      of([&](Rows& rows) { std::find_if(rows.begin(), rows.end(), second)->step = 2; });

  ASSERT_FALSE(late.findings.empty());
  EXPECT_EQ(late.findings[0].step, 1);
  EXPECT_THAT(late.findings[0].text, HasSubstr("pp.activation/forward out of order"));
  ASSERT_FALSE(other.findings.empty());
  EXPECT_THAT(texts(other), HasSubstr(" of step 2"));
}

// Without the model nothing is known of what was due; the ranks of a group still have to agree.
TEST(Collectives, AreComparedAcrossAGroupWithoutAnyExpectation) {
  LedgerCase ledgers;
  ledgers.with_model = false;

  const CheckResult clean = ledgers.check(-1, [](Rows&) {});
  EXPECT_EQ(clean.verdict, Verdict::conforms) << texts(clean);
  ASSERT_EQ(clean.notes.size(), 1u);
  EXPECT_EQ(clean.notes[0], "what was due is not compared: the model's spec is not at hand");
}

TEST(Collectives, OfARankThatSkipsOneDivergeWithoutAnyExpectation) {
  LedgerCase ledgers;
  ledgers.with_model = false;

  const CheckResult harmed =
      ledgers.check(1, [](Rows& rows) { rows.erase(at_site(rows, "head/backward")); });

  ASSERT_EQ(harmed.findings.size(), 1u) << texts(harmed);
  EXPECT_THAT(harmed.findings[0].text, HasSubstr("in group 0 1: rank 0 (dp0 tp0) did "
                                                 "reduce_scatter of 40 float64 at head/backward"));
  EXPECT_EQ(harmed.findings[0].follows_from, "");
}

TEST(Collectives, DivergeWhenARankEntersAGroupThatItIsNotOf) {
  LedgerCase ledgers;
  ledgers.with_model = false;

  const CheckResult harmed =
      ledgers.check(1, [](Rows& rows) { at_site(rows, "tokens/scalar")->group = "0 2"; });

  EXPECT_THAT(texts(harmed), HasSubstr("which is not of that group"));
}

TEST(Collectives, OfAForeignDumpAreComparedOnlyIfItHasALedger) {
  LedgerCase ledgers;
  ledgers.made.edit_header = [](int, DumpHeader& header) { header.foreign = true; };

  const CheckResult without = ledgers.check(-1, [](Rows& rows) { rows.clear(); });
  const CheckResult with = LedgerCase().check(-1, [](Rows& rows) { rows.clear(); });

  EXPECT_FALSE(without.evidence);
  EXPECT_EQ(without.notes.at(0), "not compared: the dump has no ledger of collectives");
  EXPECT_EQ(with.verdict, Verdict::diverges);
}

TEST(Collectives, OfASingleRankAreNone) {
  const CheckResult result = LedgerCase("single.mb2.fp64.host-threads").check(-1, [](Rows&) {});

  EXPECT_FALSE(result.evidence);
  EXPECT_EQ(result.verdict, Verdict::conforms);
}

}  // namespace
}  // namespace meshparity
