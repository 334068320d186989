#include "matrix/compare_dumps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fixtures/error.hpp"
#include "matrix/made_rebased.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";
constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";
const CompareOptions kExact = {true, false};

Placement columns(std::int64_t first, std::int64_t count) {
  return BoxPlacement{{{{0, first}, {2, count}}}};
}

/// A candidate's dump of one record [2, 4] on one rank, or by columns on two.
class TwoDumps {
 public:
  TwoDumps(const std::string& left_id, const std::string& right_id)
      : left(left_id), right(right_id) {}

  static void fill(MadeCase& made, std::vector<double> values) {
    made.add("x", {2, 4}, std::move(values));
    if (made.spec.mesh.world_size() == 1) {
      made.give(0, "x", columns(0, 4));
    } else {
      made.give(0, "x", columns(0, 2));
      made.give(1, "x", columns(2, 2));
    }
  }
  Comparison compare(const CompareOptions& options) {
    return compare_dumps(left.write().candidate, right.write().candidate, options);
  }

  MadeCase left;
  MadeCase right;
};

TEST(CompareDumps, EqualDumpsConform) {
  TwoDumps dumps(kTp2, kTp2);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7, 8});

  const Comparison comparison = dumps.compare(kExact);

  EXPECT_EQ(comparison.verdict, Verdict::conforms);
  EXPECT_EQ(comparison.checks.at(0).compared, 8);
}

TEST(CompareDumps, NamesTheFirstDifferenceWithItsValues) {
  TwoDumps dumps(kTp2, kTp2);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7, 9});

  const Comparison comparison = dumps.compare(kExact);

  EXPECT_EQ(comparison.verdict, Verdict::diverges);
  const Finding& finding = comparison.checks.at(0).findings.at(0);
  EXPECT_EQ(finding.record, "x");
  EXPECT_EQ(finding.rank, 1);
  EXPECT_THAT(finding.index, ElementsAre(1, 3));
  EXPECT_THAT(finding.piece_index, ElementsAre(3));
  EXPECT_EQ(finding.reference, 8);
  EXPECT_EQ(finding.candidate, 9);
  EXPECT_THAT(finding.text, HasSubstr("1 of 8 elements differ, the first at [1, 3]: 8 against 9"));
}

TEST(CompareDumps, CountsSignedZerosAndRefusesNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  TwoDumps zeros(kSingle, kSingle);
  TwoDumps::fill(zeros.left, {0, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(zeros.right, {-0.0, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps nans(kSingle, kSingle);
  TwoDumps::fill(nans.left, {nan, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(nans.right, {nan, 2, 3, 4, 5, 6, 7, 8});

  const Comparison equal = zeros.compare(kExact);

  EXPECT_EQ(equal.verdict, Verdict::conforms);
  EXPECT_THAT(equal.checks.at(0).notes,
              ElementsAre("1 elements are -0 on one side and +0 on the other: equal"));
  EXPECT_EQ(nans.compare(kExact).verdict, Verdict::diverges);
}

// 2^60 and 2^60 + 1 are one number as doubles.
TEST(CompareDumps, IntegersAreComparedAsIntegers) {
  TwoDumps dumps(kSingle, kSingle);
  for (MadeCase* made : {&dumps.left, &dumps.right}) {
    made->add("ids", {2}, {7, 1152921504606846976.0}).spec.type = ElementType::int64;
  }
  dumps.left.give(0, "ids", whole(std::vector<std::int64_t>{2}));
  dumps.right.give(0, "ids", whole(std::vector<std::int64_t>{2})).integers = {
      {7, 1152921504606846977}};

  const Comparison comparison = dumps.compare(kExact);

  EXPECT_EQ(comparison.verdict, Verdict::diverges);
  EXPECT_THAT(comparison.checks.at(0).findings.at(0).index, ElementsAre(1));
}

TEST(CompareDumps, AnotherElementTypeDiverges) {
  TwoDumps dumps(kSingle, kSingle);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  dumps.right.add("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  dumps.right.give(0, "x", columns(0, 4)).type = ElementType::float32;

  const Comparison comparison = dumps.compare(kExact);

  EXPECT_EQ(comparison.verdict, Verdict::diverges);
  EXPECT_EQ(comparison.checks.at(0).findings.at(0).text, "element types differ");
}

TEST(CompareDumps, UnlikeCasesAreRefusedWithTheirDifferingFields) {
  TwoDumps dumps(kSingle, "gpt-tiny.tp2.sgd-steps2.fp32.host-threads");
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7, 8});

  try {
    dumps.compare(kExact);
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("mesh: single against tp2; features: sgd-steps1 against "
                                        "sgd-steps2; precision: fp64 against fp32"));
  }
}

TEST(CompareDumps, AcrossListsTheDifferencesAndPutsLayoutsTogether) {
  TwoDumps dumps(kSingle, kTp2);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7.5, 8});

  const Comparison comparison = dumps.compare({true, true});

  EXPECT_THAT(comparison.differences, ElementsAre("mesh: single against tp2"));
  const Finding& finding = comparison.checks.at(0).findings.at(0);
  EXPECT_THAT(finding.index, ElementsAre(1, 2));
  EXPECT_EQ(finding.rank, 1);
  EXPECT_THAT(finding.piece_index, ElementsAre(2));
}

TEST(CompareDumps, AHoleInOneOfTwoLayoutsDiverges) {
  TwoDumps dumps(kSingle, kTp2);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  dumps.right.add("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  dumps.right.give(0, "x", columns(0, 1));
  dumps.right.give(1, "x", columns(2, 2));

  const Comparison comparison = dumps.compare({true, true});

  EXPECT_EQ(comparison.verdict, Verdict::diverges);
  EXPECT_THAT(comparison.checks.at(0).findings.at(0).text, HasSubstr("do not cover the record"));
}

TEST(CompareDumps, ARecordOnOneSideDivergesAtOneLevelAndIsANoteAcrossLevels) {
  for (const Level level : {Level::standard, Level::all}) {
    TwoDumps dumps(kSingle, kSingle);
    TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
    TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7, 8});
    dumps.right.add("y", {1}, {1});
    dumps.right.give(0, "y", whole(std::vector<std::int64_t>{1}));
    dumps.right.level = level;

    const Comparison comparison = dumps.compare(kExact);

    if (level == Level::standard) {
      EXPECT_EQ(comparison.verdict, Verdict::diverges);
      EXPECT_EQ(comparison.checks.at(0).findings.at(0).text,
                "only the candidate holds this record");
    } else {
      EXPECT_EQ(comparison.verdict, Verdict::conforms);
      EXPECT_THAT(comparison.checks.at(0).notes, Contains(HasSubstr("1 records that only one")));
    }
  }
}

TEST(CompareDumps, ComparesSingleFilesAndLargePieces) {
  TwoDumps dumps(kSingle, kSingle);
  const std::int64_t count = 300000;
  for (MadeCase* made : {&dumps.left, &dumps.right}) {
    made->add("x", {count}, std::vector<double>(count, 1.5));
    made->give(0, "x", whole(std::vector<std::int64_t>{count}));
  }
  MadeRecord& other = dumps.right.add("x2", {count}, std::vector<double>(count, 1.5));
  dumps.left.add("x2", {count}, other.values).values[123456] = 2;
  for (MadeCase* made : {&dumps.left, &dumps.right}) {
    made->give(0, "x2", whole(std::vector<std::int64_t>{count}));
  }

  const Comparison comparison =
      compare_dumps(dumps.left.write().candidate / "rank_0000.h5",
                    dumps.right.write().candidate / "rank_0000.h5", kExact);

  ASSERT_EQ(comparison.checks.at(0).findings.size(), 1u);
  EXPECT_THAT(comparison.checks.at(0).findings[0].index, ElementsAre(123456));
  EXPECT_EQ(comparison.checks.at(0).compared, 2 * count);
}

TEST(CompareDumps, ComparesByBoundsWhereTheReferenceHasCompanions) {
  MadeCase made(kTp2);
  made.reference_id = reference_key(made.spec);
  made.add("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).noise = 1e-6;  // fp64 sigma 2.6e-15
  made.give(0, "x", columns(0, 2)).values = {{1, 2, 5, 6.0000000000000009}};
  made.give(1, "x", columns(2, 2));
  const Evidence evidence = made.write();

  const Comparison bounded = compare_dumps(evidence.reference, evidence.candidate, {});

  EXPECT_EQ(bounded.verdict, Verdict::conforms);
  EXPECT_EQ(bounded.checks.size(), kCheckNames.size() - 1);
  EXPECT_EQ(compare_dumps(evidence.reference, evidence.candidate, {true, true}).verdict,
            Verdict::diverges);
}

TEST(CompareDumps, TakesTheCompanionsOfTheCandidatesLane) {
  MadeCase made("gpt-tiny.single.sgd-steps1.bf16.host-threads");
  made.add("x", {1}, {1}).noise = 1e-3;
  made.give(0, "x", whole(std::vector<std::int64_t>{1})).values = {{1.001}};
  const Evidence evidence = made.write();
  const auto companions = evidence.reference / "companions_bf16.h5";

  const Verdict without = compare_dumps(evidence.reference, evidence.candidate, {}).verdict;
  write_companions(
      companions, "bf16",
      {{"x", Phase::forward, 0, 1, 1, 32, {1e-6f}, 1e-6, 1, std::vector<double>(32, 1e-3)}});

  EXPECT_EQ(without, Verdict::inconclusive);
  EXPECT_EQ(compare_dumps(evidence.reference, evidence.candidate, {}).verdict, Verdict::conforms);
}

// AdamW's second step went another way than the reference, and its update has a law.
TEST(CompareDumps, RestartsTheReferenceFromTheCandidatesStatesWhereItCan) {
  MadeCase made("gpt-tiny.single.steps2.fp64.host-threads");
  for (const auto& [name, phase, step] :
       {std::tuple("x", Phase::forward, 0), std::tuple("w", Phase::param, 0),
        std::tuple("y", Phase::forward, 1)}) {
    MadeRecord& record = made.add(name, {1}, {1});
    record.spec.phase = phase;
    record.step = step;
    MadePiece& piece = made.give(0, name, whole(std::vector<std::int64_t>{1}));
    piece.step = step;
    piece.values = {{step == 0 ? 1.0 : 1.5}};
  }
  const Evidence evidence = made.write();
  CompareOptions options;
  options.rebase = [&](const RebaseQuestion& question) {
    EXPECT_EQ(question.level, Level::standard);
    EXPECT_EQ(format_case(question.spec), format_case(made.spec));
    return MadeRebased(made)
        .record(1, Phase::forward, "y", {1.5})
        .law(0, Phase::param, "w", {{1}, {0}})
        .finish();
  };
  const auto compare = [&] {
    return compare_dumps(evidence.reference, evidence.candidate, options);
  };

  const Comparison rebased = compare();
  options.rebase = [](const RebaseQuestion&) -> std::filesystem::path {
    throw Error("no program");
  };
  const Comparison alone = compare();

  EXPECT_EQ(rebased.verdict, Verdict::conforms);
  EXPECT_EQ(rebased.checks.at(3).compared, 2);  // forward
  EXPECT_THAT(rebased.checks.at(3).notes, testing::IsEmpty());
  EXPECT_EQ(alone.verdict, Verdict::conforms);
  EXPECT_EQ(alone.checks.at(3).compared, 1);
  EXPECT_THAT(alone.checks.at(3).notes, Contains(HasSubstr("no program: forward y step 1")));
}

TEST(CompareDumps, RefusesTornFilesAndFoldersWithoutADump) {
  TwoDumps dumps(kTp2, kTp2);
  TwoDumps::fill(dumps.left, {1, 2, 3, 4, 5, 6, 7, 8});
  TwoDumps::fill(dumps.right, {1, 2, 3, 4, 5, 6, 7, 8});
  dumps.right.torn = {1};
  const std::filesystem::path left = dumps.left.write().candidate;
  const std::filesystem::path torn = dumps.right.write().candidate;

  EXPECT_THROW(compare_dumps(left, torn, kExact), UsageError);
  EXPECT_THROW(compare_dumps(left, left.parent_path(), kExact), UsageError);
  EXPECT_THROW(compare_dumps(left, left / "absent.h5", kExact), UsageError);
}

}  // namespace
}  // namespace meshparity
