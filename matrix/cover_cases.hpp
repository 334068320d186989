// The cases of a cover: which value of which feature each factor of a suite means.
#pragma once
#include <string>
#include <vector>

#include "matrix/case_planner.hpp"
#include "matrix/suite.hpp"

namespace meshparity {

/// What a cover reached, for the reports.
struct CoverSummary {
  std::string origin;  // "FILE:LINE"
  std::size_t strength = 0;
  std::size_t legal = 0;  // combinations of values, all covered
  std::size_t cases = 0;
  std::size_t sampled = 0;  // further cases
  std::size_t keys = 0;     // references they need, means of means apart
  std::int64_t ranks = 0;   // of all cases
  struct Excluded {
    std::string combination;  // "dp4 with tp6"
    std::string reason;
    bool operator==(const Excluded&) const = default;
  };
  std::vector<Excluded> excluded;
};

struct CoveredCases {
  std::vector<CaseSpec> cases;
  CoverSummary summary;
};

/// Throws UsageError "ORIGIN:LINE: ..." for a value that no feature, axis, model, precision or
/// machine has, and for a cover that no case can be part of.
CoveredCases cover_cases(const CoverBlock& block, const std::string& origin,
                         const CaseSource& source, CasePlanner& planner);

/// "1005 of 1005 legal pairs of values in 37 cases (290 ranks, 12 keys); 16 pairs excluded"
std::string describe_cover(const CoverSummary& summary);

}  // namespace meshparity
