#include "matrix/cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace meshparity {
namespace {

bool wants_color(Color color, bool interactive) {
  if (color != Color::automatic) {
    return color == Color::always;
  }
  const char* refused = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return interactive && (refused == nullptr || *refused == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

std::string_view code_of(std::string_view word) {
  if (word == verdict_name(Verdict::conforms)) {
    return "\033[32m";
  }
  return word == verdict_name(Verdict::diverges) ? "\033[31m" : "\033[33m";
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

Terminal::Terminal(Color color)
    : interactive_(isatty(STDOUT_FILENO) == 1), colored_(wants_color(color, interactive_)) {}

std::string Terminal::verdict_word(std::string_view word, std::size_t width) const {
  const std::string padded = fmt::format("{:<{}}", word, width);
  return colored_ ? fmt::format("{}{}\033[0m", code_of(word), padded) : padded;
}

std::string Terminal::bold(std::string_view text) const {
  return colored_ ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

void Terminal::clear() {
  if (status_shown_) {
    fmt::print("\r\033[K");
    status_shown_ = false;
  }
}

void Terminal::line(const std::string& text) {
  clear();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Terminal::status(const std::string& text) {
  if (interactive_) {
    clear();
    fmt::print("{}", text.substr(0, terminal_width() - 1));
    std::fflush(stdout);
    status_shown_ = true;
  }
}

}  // namespace meshparity
