#include "matrix/cover_sample.hpp"

#include <random>
#include <set>
#include <utility>

namespace meshparity {

std::vector<CoverRow> sample_rows(const CoverProblem& problem, const Cover& cover,
                                  std::size_t count, std::uint64_t seed) {
  constexpr std::size_t kTriesEach = 1000;
  std::mt19937_64 engine(seed);  // its words are the standard's; distributions are not
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(engine() % limit); };
  std::set<CoverRow> seen(cover.rows.begin(), cover.rows.end());
  std::vector<CoverRow> rows;
  for (std::size_t tries = 0; rows.size() < count && tries < count * kTriesEach; ++tries) {
    CoverRow row = cover.rows[below(cover.rows.size())];
    for (std::size_t factor = 0; factor < row.size(); ++factor) {
      if (!problem.factors[factor].of_key) {
        row[factor] = static_cast<int>(below(problem.factors[factor].values.size()));
      }
    }
    if (!problem.why_not(row) && seen.insert(row).second) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace meshparity
