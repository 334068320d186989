// A finding in words, the same on the terminal and in every report.
#pragma once
#include <string>
#include <vector>

#include "matrix/verdict.hpp"

namespace meshparity {

/// First one line with record, check, rank and what was found; then what it rests on: index,
/// values, limit and derivation, cause. Only lines that have something to say.
std::vector<std::string> describe_finding(const Finding& finding);

/// The case's id; of a relation "CASE = PARTNER (rank_order)".
std::string subject_of(const CaseReport& report);
/// "conforms", "diverges", "inconclusive" or "not run".
std::string outcome_word(const CaseReport& report);

/// How many cases ended how.
struct Tally {
  int conform = 0;
  int diverge = 0;
  int inconclusive = 0;
  int not_run = 0;
};
Tally tally(const std::vector<CaseReport>& reports);
/// "2 diverge, 1 inconclusive, 40 conform, 3 not run"; zeros are left out but for "conform".
std::string describe_tally(const Tally& tally);

}  // namespace meshparity
