#include "reports/ci_text.hpp"

#include <fmt/format.h>

#include "reports/finding_text.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kAnnotationsShown = 10;

// The command's own separators would end a text early.
std::string escaped(const std::string& text, std::string_view special) {
  std::string safe;
  for (const char letter : text) {
    if (special.find(letter) == std::string_view::npos) {
      safe += letter;
    } else {
      safe += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return safe;
}

std::string annotation(const CaseReport& report) {
  const Finding* cause = first_cause(report);
  const std::string text =
      cause != nullptr ? describe_finding(*cause).front() : "no check had any evidence";
  return fmt::format("::error title={}::{}: {}", escaped(subject_of(report), "%\r\n:,"),
                     outcome_word(report), escaped(text, "%\r\n"));
}

}  // namespace

std::string cut_page(const std::string& page, std::size_t limit) {
  if (page.size() <= limit) {
    return page;
  }
  const std::string sentence = fmt::format(
      "\nCut here: the report has {} bytes, more than fit; report.md has all.\n", page.size());
  if (sentence.size() >= limit) {
    return "";
  }
  const std::size_t end = page.rfind('\n', limit - sentence.size() - 1);
  return (end == std::string::npos ? "" : page.substr(0, end + 1)) + sentence;
}

std::vector<std::string> annotations(const std::vector<CaseReport>& reports) {
  std::vector<std::string> lines;
  std::size_t failures = 0;
  for (const Verdict verdict : {Verdict::diverges, Verdict::inconclusive}) {
    for (const CaseReport& report : reports) {
      if (!report.not_run.empty() || report.verdict != verdict) {
        continue;
      }
      if (++failures < kAnnotationsShown) {
        lines.push_back(annotation(report));
      }
    }
  }
  if (failures >= kAnnotationsShown) {
    lines.push_back(fmt::format("::error title=meshparity::{} more do not conform; see report.md",
                                failures - lines.size()));
  }
  return lines;
}

}  // namespace meshparity
