#include "matrix/cli/progress.hpp"

#include <fmt/format.h>

#include "reports/finding_text.hpp"
#include "reports/margins.hpp"

namespace meshparity {

Progress::Progress(Terminal& terminal, std::size_t total)
    : terminal_(terminal), total_(total), started_(std::chrono::steady_clock::now()) {}

void Progress::begun(const std::string& id) {
  terminal_.status(fmt::format("{}/{}  {}  {}", done_, total_, id, time_left()));
}

void Progress::ended(const CaseReport& report) {
  ++done_;
  // Where somebody watches, the table at the end tells of those that conform.
  if (!terminal_.is_interactive() || report.verdict != Verdict::conforms) {
    terminal_.line(progress_line(terminal_, report));
  }
  terminal_.status(fmt::format("{}/{}  {}  {}", done_, total_, report.case_id, time_left()));
}

std::string Progress::time_left() const {
  if (done_ == 0) {
    return "";
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started_;
  const double left =
      passed.count() / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  return fmt::format("{:.0f} s left", left);
}

std::string progress_line(const Terminal& terminal, const CaseReport& report) {
  const std::optional<Margin> worst = worst_margin(report);
  return fmt::format("{}  {:>7}  {:>6.2f} s  {}", terminal.verdict_word(outcome_word(report), 12),
                     worst ? fmt::format("{:.2g}", worst->margin) : "-", report.seconds,
                     subject_of(report));
}

}  // namespace meshparity
