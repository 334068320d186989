// Ledgers of memory as a conforming run would write them, and then one row doubled, raised or left
// out.
#include "matrix/checks/memory.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/expect/memory.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using Rows = std::vector<MemoryRow>;

Rows due_rows(const expect::Layout& layout, int rank) {
  Rows rows;
  const expect::RankMemory due = expect::memory_of(layout, rank);
  for (const std::string_view tag : expect::kDueTags) {
    const std::int64_t at_the_end = expect::left_of(tag, layout, rank);
    rows.push_back({std::string(tag), 0, at_the_end, due.of(tag), 3});
  }
  rows.push_back({"buffer", 0, 10, 12, 3});
  return rows;
}

MemoryRow& row_of(Rows& rows, const std::string& tag) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const MemoryRow& row) { return row.tag == tag; });
}

/// dp2-tp2 of gpt-micro; `edit` changes the ledger of rank 3.
CheckResult check(const std::function<void(Rows&)>& edit, bool foreign = false,
                  bool with_model = true) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  MadeCase made("gpt-micro.dp2-tp2.sp-mb2-steps1.fp64.host-threads");
  made.add("loss", {1}, {1}).spec.phase = Phase::loss;
  for (int rank = 0; rank < made.spec.mesh.world_size(); ++rank) {
    made.give(rank, "loss", whole(std::vector<std::int64_t>{1}), "dp,tp");
  }
  made.edit_header = [&](int, DumpHeader& header) { header.foreign = foreign; };
  made.edit_ledgers = [&](int rank, Ledgers& ledgers) {
    ledgers.memory = due_rows({made.spec, model}, rank);
    if (rank == 3) {
      edit(ledgers.memory);
    }
  };
  Evidence evidence = made.write();
  evidence.model = with_model ? model : ModelSpec{};
  return result_of(judge(evidence), "memory");
}

TEST(Memory, ConformsWhenEveryByteWasDue) {
  const CheckResult result = check([](Rows&) {});

  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_TRUE(result.evidence);
  EXPECT_EQ(result.compared, 4 * 5 * 2);
  EXPECT_THAT(result.notes.at(0), HasSubstr("at most 12 bytes"));
}

TEST(Memory, DivergesWhenABufferIsDoubled) {
  for (const std::string_view tag : expect::kDueTags) {
    const CheckResult result = check([&](Rows& rows) {
      MemoryRow& row = row_of(rows, std::string(tag));
      row.current += row.peak;
      row.peak *= 2;
    });

    ASSERT_EQ(result.findings.size(), 1u) << tag;
    EXPECT_EQ(result.verdict, Verdict::diverges);
    EXPECT_EQ(result.findings[0].rank, 3);
    EXPECT_EQ(result.findings[0].coordinate, "dp1 tp1");
    EXPECT_THAT(result.findings[0].text, HasSubstr(std::string(tag) + ": "));
  }
}

TEST(Memory, DivergesWhenOnlyThePeakOrOnlyTheEndIsOff) {
  const CheckResult peak = check([](Rows& rows) { row_of(rows, "gradient").peak += 8; });
  const CheckResult end = check([](Rows& rows) { row_of(rows, "activation_B").current = 8; });

  EXPECT_THAT(peak.findings.at(0).text, HasSubstr("gradient: "));
  EXPECT_THAT(end.findings.at(0).text, HasSubstr("activation_B: 8 bytes at the end"));
}

TEST(Memory, DivergesWhenOurOwnLedgerLacksATag) {
  const CheckResult one = check([](Rows& rows) { rows.erase(rows.begin() + 2); });
  const CheckResult all = check([](Rows& rows) { rows.clear(); });

  ASSERT_EQ(one.findings.size(), 1u);
  EXPECT_THAT(one.findings[0].text, HasSubstr("optimizer: "));
  EXPECT_THAT(one.findings[0].text, HasSubstr("the ledger has no row"));
  EXPECT_EQ(all.findings.size(), 5u);
}

TEST(Memory, TakesTheLastRowOfATagAndAddsChunks) {
  const CheckResult result = check([](Rows& rows) {
    MemoryRow earlier = row_of(rows, "parameter");
    earlier.current = 1;
    rows.insert(rows.begin(), earlier);
    MemoryRow half = row_of(rows, "gradient");
    half.chunk = 1;
    half.current = half.peak = half.current / 2;
    row_of(rows, "gradient").current -= half.current;
    row_of(rows, "gradient").peak -= half.peak;
    rows.push_back(half);
  });

  EXPECT_EQ(result.verdict, Verdict::conforms);
}

// The peaks of two chunks need not come together.
TEST(Memory, TakesTheRanksOwnRowWhereThereAreChunks) {
  const CheckResult result = check([](Rows& rows) {
    MemoryRow& rank = row_of(rows, "activation_B");
    MemoryRow chunk = rank;
    rank.chunk = -1;
    rows.push_back(chunk);
    chunk.chunk = 1;
    rows.push_back(chunk);
  });

  EXPECT_EQ(result.verdict, Verdict::conforms);
}

TEST(Memory, OfAForeignCandidateOrAnUnknownModelIsNotCompared) {
  const auto spoil = [](Rows& rows) { rows.clear(); };

  for (const CheckResult& result : {check(spoil, true), check(spoil, false, false)}) {
    EXPECT_EQ(result.verdict, Verdict::conforms);
    EXPECT_FALSE(result.evidence);
    EXPECT_THAT(result.notes.at(0), HasSubstr("not compared: "));
  }
}

}  // namespace
}  // namespace meshparity
