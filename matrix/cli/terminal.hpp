// How lines reach people: colour only where it is wanted, one moving line only on a terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "matrix/cli/options.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// Columns of standard output; 80 where it is no terminal.
std::size_t terminal_width();

class Terminal {
 public:
  /// Looks at standard output and, for automatic colour, at NO_COLOR and TERM.
  explicit Terminal(Color color);

  bool is_interactive() const { return interactive_; }
  /// The word in the colour of its gravity, padded to `width`.
  std::string verdict_word(std::string_view word, std::size_t width) const;
  std::string bold(std::string_view text) const;
  /// A line that stays.
  void line(const std::string& text);
  /// The one line that moves; nothing where nobody watches.
  void status(const std::string& text);

 private:
  void clear();

  bool interactive_;
  bool colored_;
  bool status_shown_ = false;
};

}  // namespace meshparity
