// Launching a program: one child process whose standard output is read line by line while its
// standard error goes to a log. It dies with the driver.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace meshparity {

/// How a process ended: by itself (signal 0) or by a signal.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;
  bool clean() const { return exit_code == 0 && signal == 0; }
};
/// "ended with exit code 3", "was killed by SIGSEGV (signal 11)".
std::string describe(const ProcessEnd& end);

/// A running child, killed and reaped when it goes out of scope.
class Launch {
 public:
  /// command[0] is the program's path. Throws Error naming program and reason when it cannot be
  /// started.
  Launch(const std::vector<std::string>& command, const std::filesystem::path& log);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  enum class Read { line, nothing_yet, end };
  /// One line of standard output without its newline, waiting at most `patience` for it.
  Read read_line(std::string& line, std::chrono::milliseconds patience);
  /// Kills the child and every process it started in its own group.
  void kill();
  /// Waits for the end; may be called again.
  ProcessEnd wait();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string pending_;
  bool at_end_ = false;
  bool reaped_ = false;
  ProcessEnd end_;
};

/// The last lines of a log joined by " | ", for a finding; empty when there are none. What a
/// sanitizer says in one line ("SUMMARY: ...") stands first where it is followed by more.
std::string last_lines(const std::filesystem::path& log, std::size_t count);

}  // namespace meshparity
