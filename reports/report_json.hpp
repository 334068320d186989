// A case's report as JSON and back, nothing lost: numbers that JSON has no word for (NaN,
// infinity) are written as texts.
#pragma once
#include <string>

#include "matrix/verdict.hpp"

namespace meshparity {

/// One line without newline.
std::string format_report(const CaseReport& report);
/// The same, indented, for people.
std::string format_report_indented(const CaseReport& report);
/// Throws UsageError saying what is wrong with the text.
CaseReport parse_report(const std::string& text);

}  // namespace meshparity
