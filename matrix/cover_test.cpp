#include "matrix/cover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "matrix/combinations.hpp"
#include "matrix/cover_sample.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;

Factor factor(const std::string& name, std::size_t values, bool of_key = false) {
  Factor made{name, {}, of_key};
  for (std::size_t v = 0; v < values; ++v) {
    made.values.push_back(name + std::to_string(v));
  }
  return made;
}

CoverProblem free_problem(const std::vector<Factor>& factors, std::size_t strength) {
  return {factors, strength, [](const CoverRow&) { return std::nullopt; },
          [](const CoverRow&) { return 1; }};
}

std::vector<CoverRow> every_row(const std::vector<Factor>& factors) {
  std::vector<CoverRow> rows = {{}};
  for (const Factor& each : factors) {
    std::vector<CoverRow> longer;
    for (const CoverRow& row : rows) {
      for (std::size_t v = 0; v < each.values.size(); ++v) {
        longer.push_back(row);
        longer.back().push_back(static_cast<int>(v));
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

/// (factor, value, factor, value), first factor first.
using Pair = std::array<int, 4>;
std::set<Pair> pairs_in(const std::vector<CoverRow>& rows) {
  std::set<Pair> pairs;
  for (const CoverRow& row : rows) {
    for (std::size_t a = 0; a < row.size(); ++a) {
      for (std::size_t b = a + 1; b < row.size(); ++b) {
        pairs.insert({static_cast<int>(a), row[a], static_cast<int>(b), row[b]});
      }
    }
  }
  return pairs;
}

std::vector<CoverRow> legal_rows(const CoverProblem& problem) {
  std::vector<CoverRow> rows = every_row(problem.factors);
  std::erase_if(rows, [&](const CoverRow& row) { return problem.why_not(row).has_value(); });
  return rows;
}

void expect_complete(const CoverProblem& problem) {
  const Cover cover = make_cover(problem);
  for (const CoverRow& row : cover.rows) {
    EXPECT_EQ(problem.why_not(row), std::nullopt);
  }
  const std::set<Pair> legal = pairs_in(legal_rows(problem));
  EXPECT_EQ(pairs_in(cover.rows), legal);
  EXPECT_EQ(cover.legal, legal.size());
  EXPECT_EQ(cover.legal + cover.excluded.size(), pairs_in(every_row(problem.factors)).size());
}

TEST(Combinations, CountAndNameThemselves) {
  const std::vector<Factor> factors = {factor("a", 2), factor("b", 3), factor("c", 2)};

  Combinations pairs(factors, {0, 1, 2}, 2);
  EXPECT_EQ(pairs.size(), 2u * 3 + 2 * 2 + 3 * 2);
  EXPECT_THAT(pairs.at(0), ElementsAre(FactorValue{0, 0}, FactorValue{1, 0}));
  EXPECT_THAT(pairs.at(7), ElementsAre(FactorValue{0, 0}, FactorValue{2, 1}));

  pairs.add({0, 0, 0});
  EXPECT_EQ(pairs.gain({0, 0, 1}), 2u);
  EXPECT_EQ(pairs.next_open(0), 1u);
  EXPECT_FALSE(pairs.is_spare({0, 0, 0}));
  pairs.add({0, 0, 0});
  EXPECT_TRUE(pairs.is_spare({0, 0, 0}));
  EXPECT_EQ(Combinations(factors, {0, 2}, 2).size(), 4u);
}

TEST(Cover, HoldsEveryPairInFewRows) {
  const CoverProblem problem =
      free_problem({factor("a", 3), factor("b", 3), factor("c", 3), factor("d", 3)}, 2);

  expect_complete(problem);
  EXPECT_LE(make_cover(problem).rows.size(), 12u);  // nine is the least there can be
}

TEST(Cover, HoldsEveryTriple) {
  const CoverProblem problem =
      free_problem({factor("a", 2), factor("b", 2), factor("c", 2), factor("d", 2)}, 3);
  const Cover cover = make_cover(problem);

  EXPECT_EQ(cover.legal, 4u * 8);
  EXPECT_LE(cover.rows.size(), 10u);  // eight is the least
}

// b1 needs c1, and c1 needs d1: the pair (a1, b1) needs two companions, found one after the other.
TEST(Cover, FindsTheCompanyThatAValueNeeds) {
  CoverProblem problem =
      free_problem({factor("a", 2), factor("b", 2), factor("c", 2), factor("d", 2)}, 2);
  problem.why_not = [](const CoverRow& row) -> std::optional<std::string> {
    if (row[1] == 1 && row[2] != 1) {
      return "b1 needs c1";
    }
    if (row[2] == 1 && row[3] != 1) {
      return "c1 needs d1";
    }
    return std::nullopt;
  };

  expect_complete(problem);
}

// Neither company helps alone, and the reason stays the same until both are there.
TEST(Cover, FindsTwoCompanionsThatHelpOnlyTogether) {
  CoverProblem problem = free_problem({factor("a", 3), factor("b", 2), factor("c", 2)}, 2);
  problem.why_not = [](const CoverRow& row) -> std::optional<std::string> {
    return row[0] == 2 && !(row[1] == 1 && row[2] == 1) ? std::optional("a2 is alone")
                                                        : std::nullopt;
  };

  expect_complete(problem);
}

TEST(Cover, SaysWhyAPairCannotBe) {
  CoverProblem problem = free_problem({factor("a", 2), factor("b", 2), factor("c", 2)}, 2);
  problem.why_not = [](const CoverRow& row) {
    return row[0] == 1 && row[2] == 1 ? std::optional<std::string>("too many") : std::nullopt;
  };
  const Cover cover = make_cover(problem);

  ASSERT_EQ(cover.excluded.size(), 1u);
  EXPECT_THAT(cover.excluded[0].combination, ElementsAre(FactorValue{0, 1}, FactorValue{2, 1}));
  EXPECT_EQ(cover.excluded[0].reason, "too many");
}

TEST(Cover, TakesFewKeysAndStillHoldsTheirPairs) {
  const std::vector<Factor> factors = {factor("k", 3, true), factor("l", 3, true),
                                       factor("m", 2, true), factor("a", 6), factor("b", 5)};
  const Cover cover = make_cover(free_problem(factors, 2));

  EXPECT_LE(cover.keys, 11u);
  EXPECT_GE(cover.rows.size(), 30u);
  expect_complete(free_problem(factors, 2));
}

TEST(Cover, PrefersCheapRows) {
  CoverProblem problem = free_problem({factor("ranks", 8), factor("b", 2), factor("c", 2)}, 2);
  problem.cost = [](const CoverRow& row) { return row[0] + 1; };
  const Cover cover = make_cover(problem);

  // Each number of ranks must meet b0 and b1: twice 1 + 2 + ... + 8.
  EXPECT_EQ(cover.cost, 72);
}

TEST(Cover, HasEachValueAloneWithTheLeastCompany) {
  CoverProblem problem = free_problem({factor("a", 3), factor("b", 2), factor("c", 2)}, 1);
  problem.why_not = [](const CoverRow& row) {
    return row[1] == 1 && row[0] == 0 ? std::optional<std::string>("b1 needs a") : std::nullopt;
  };

  EXPECT_THAT(make_cover(problem).rows,
              ElementsAre(CoverRow{0, 0, 0}, CoverRow{1, 0, 0}, CoverRow{2, 0, 0},
                          CoverRow{1, 1, 0}, CoverRow{0, 0, 1}));
}

TEST(Cover, ASampleAddsLegalRowsWithKnownKeysAndIsTheSameForASeed) {
  CoverProblem problem =
      free_problem({factor("k", 3, true), factor("l", 2, true), factor("a", 5), factor("b", 5)}, 2);
  problem.why_not = [](const CoverRow& row) {
    return row[2] == 4 && row[3] == 4 ? std::optional<std::string>("no") : std::nullopt;
  };
  const Cover cover = make_cover(problem);
  std::set<std::pair<int, int>> keys;
  for (const CoverRow& row : cover.rows) {
    keys.insert({row[0], row[1]});
  }
  const std::vector<CoverRow> rows = sample_rows(problem, cover, 40, 7);

  EXPECT_EQ(rows.size(), 40u);
  std::set<CoverRow> all(cover.rows.begin(), cover.rows.end());
  for (const CoverRow& row : rows) {
    EXPECT_EQ(problem.why_not(row), std::nullopt);
    EXPECT_TRUE(keys.contains({row[0], row[1]}));
    EXPECT_TRUE(all.insert(row).second);
  }
  EXPECT_EQ(sample_rows(problem, cover, 40, 7), rows);
  EXPECT_NE(sample_rows(problem, cover, 40, 8), rows);
  EXPECT_LT(sample_rows(problem, cover, 1000, 7).size(), 150u);  // there are no more
}

TEST(Cover, IsTheSameForTheSameProblem) {
  const CoverProblem problem = free_problem({factor("a", 4), factor("b", 3), factor("c", 3)}, 2);

  EXPECT_EQ(make_cover(problem).rows, make_cover(problem).rows);
}

}  // namespace
}  // namespace meshparity
