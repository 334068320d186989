#include "matrix/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(fmt::format("opening a pipe to a child process: {}", strerror(errno)));
  }
  return {ends[0], ends[1]};
}

int open_log(const std::filesystem::path& log) {
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) {
    throw Error(fmt::format("opening the log {}: {}", log.string(), strerror(errno)));
  }
  return file;
}

// Between fork and exec only async-signal-safe calls are allowed: other threads hold locks. The
// child stands in its own process group (to be killed with what it starts) and dies with us.
[[noreturn]] void become(char* const* arguments, int output, int log, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  execv(arguments[0], arguments);
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = write(report, &reason, sizeof reason);
  _exit(127);
}

// The report pipe closes by itself when exec succeeds; else errno comes through it.
int exec_failure(int report) {
  int reason = 0;
  const ssize_t got = read(report, &reason, sizeof reason);
  close(report);
  return got == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}

}  // namespace

std::string describe(const ProcessEnd& end) {
  if (end.signal == 0) {
    return fmt::format("ended with exit code {}", end.exit_code);
  }
  const char* name = sigabbrev_np(end.signal);
  return fmt::format("was killed by SIG{} (signal {})", name != nullptr ? name : "?", end.signal);
}

Launch::Launch(const std::vector<std::string>& command, const std::filesystem::path& log) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const int log_file = open_log(log);
  const Pipe output = open_pipe();
  const Pipe report = open_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    become(arguments.data(), output.write_end, log_file, report.write_end);
  }
  close(log_file);
  close(output.write_end);
  close(report.write_end);
  output_ = output.read_end;
  const int reason = pid_ < 0 ? errno : exec_failure(report.read_end);
  if (reason != 0) {
    close(output_);
    if (pid_ > 0) {
      waitpid(pid_, nullptr, 0);
    }
    throw Error(fmt::format("starting {}: {}", command.front(), strerror(reason)));
  }
}

Launch::~Launch() {
  if (!reaped_) {
    kill();
    wait();
  }
  close(output_);
}

Launch::Read Launch::read_line(std::string& line, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    const std::size_t newline = pending_.find('\n');
    if (newline != std::string::npos) {
      line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return Read::line;
    }
    if (at_end_) {
      return Read::end;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd waiting{output_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) <= 0) {
      return Read::nothing_yet;
    }
    std::array<char, 4096> bytes{};
    const ssize_t got = read(output_, bytes.data(), bytes.size());
    if (got > 0) {
      pending_.append(bytes.data(), static_cast<std::size_t>(got));
    }
    at_end_ = got == 0 || (got < 0 && errno != EINTR);
  }
}

void Launch::kill() {
  // Both: the group may not exist yet when the child has not reached setpgid.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

ProcessEnd Launch::wait() {
  if (reaped_) {
    return end_;
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) {
    end_.signal = WTERMSIG(status);
  } else {
    end_.exit_code = WEXITSTATUS(status);
  }
  return end_;
}

std::string last_lines(const std::filesystem::path& log, std::size_t count) {
  constexpr std::string_view kSummary = "SUMMARY: ";
  std::ifstream in(log);
  std::vector<std::string> kept;
  std::string summary;
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      kept.push_back(line.substr(0, 200));
    }
    if (kept.size() > count) {
      summary = kept.front().starts_with(kSummary) ? kept.front() : summary;
      kept.erase(kept.begin());
    }
  }
  if (!summary.empty()) {
    kept.insert(kept.begin(), summary);
  }
  return fmt::format("{}", fmt::join(kept, " | "));
}

}  // namespace meshparity
