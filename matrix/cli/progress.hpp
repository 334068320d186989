// Progress of a run: on a terminal one moving line with done, total, current case and time left;
// elsewhere one plain line a case.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

#include "matrix/cli/terminal.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

class Progress {
 public:
  Progress(Terminal& terminal, std::size_t total);

  void begun(const std::string& id);
  void ended(const CaseReport& report);

 private:
  std::string time_left() const;

  Terminal& terminal_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point started_;
};

/// "conforms      0.31  0.2 s  gpt-tiny.dp2...": verdict, worst margin, seconds, id.
std::string progress_line(const Terminal& terminal, const CaseReport& report);

}  // namespace meshparity
