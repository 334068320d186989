// What a CI service shows of a run: a page that is not too long, and lines beside the log.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "matrix/verdict.hpp"

namespace meshparity {

/// GitHub refuses longer summaries of a step.
inline constexpr std::size_t kSummaryLimit = 1 << 20;
/// At most `limit` bytes: the page, or its first whole lines and a sentence that says so.
std::string cut_page(const std::string& page, std::size_t limit = kSummaryLimit);

/// "::error title=CASE::forward layer0.out ...", one a failure: those that diverge, then the
/// inconclusive, ten at most (no more are shown) with a last line for the others.
std::vector<std::string> annotations(const std::vector<CaseReport>& reports);

}  // namespace meshparity
