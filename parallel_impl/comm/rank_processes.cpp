#include "parallel_impl/comm/rank_processes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>

namespace meshparity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kReturned = 0;
constexpr int kThrew = 1;
constexpr std::chrono::seconds kGrace{2 * kSlowness};
constexpr int kLookMilliseconds = 100;

// A process of its own that dies with its parent, and runs nothing of what the parent would run at
// its end.
[[noreturn]] void be_rank(ProcessWorld& world, const std::function<void(int)>& body, int rank,
                          pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int status = ::getppid() == parent ? kReturned : kThrew;
  try {
    if (status == kReturned) {
      body(rank);
    }
  } catch (const std::exception& thrown) {
    world.line(rank).error.store(thrown.what());
    world.poison(rank, thrown.what());
    status = kThrew;
  }
  world.end(rank);
  std::fflush(nullptr);
  ::_exit(status);
}

std::string describe_death(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return fmt::format("was killed by SIG{} (signal {})", name == nullptr ? "?" : name,
                       WTERMSIG(status));
  }
  return fmt::format("ended its process with exit code {}", WEXITSTATUS(status));
}

/// The processes of a world, from their start to their end.
class RankProcesses {
 public:
  RankProcesses(ProcessWorld& world, const std::function<void(int)>& body)
      : world_(world), errors_(static_cast<std::size_t>(world.size())) {
    std::fflush(nullptr);  // what is buffered now must not be printed by every child
    const pid_t parent = ::getpid();
    for (int rank = 0; rank < world_.size(); ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        be_rank(world_, body, rank, parent);
      }
      if (pid < 0) {
        never_started(rank, fmt::format("starting its process: {}", ::strerror(errno)));
      } else {
        alive_.push_back({rank, pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))});
      }
    }
  }
  ~RankProcesses() { kill_all(); }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  std::vector<std::string> await_all() {
    std::optional<Clock::time_point> failed;
    while (!alive_.empty()) {
      await_any();
      reap();
      if (!failed && world_.state().failed()) {
        failed = Clock::now();
      }
      if (failed && Clock::now() - *failed > kGrace) {
        kill_all();
      }
    }
    return errors_;
  }

 private:
  struct Process {
    int rank = 0;
    pid_t pid = 0;
    int handle = -1;  // readable when the process has ended; -1: looked after by the clock
  };

  void never_started(int rank, const std::string& why) {
    errors_[static_cast<std::size_t>(rank)] = why;
    world_.poison(rank, why);
    world_.end(rank);
  }

  void await_any() const {
    std::vector<pollfd> handles;
    for (const Process& process : alive_) {
      handles.push_back({process.handle, POLLIN, 0});
    }
    ::poll(handles.data(), handles.size(), kLookMilliseconds);
  }

  void reap() {
    std::erase_if(alive_, [this](const Process& process) {
      int status = 0;
      if (::waitpid(process.pid, &status, WNOHANG) != process.pid) {
        return false;
      }
      ::close(process.handle);
      note_end(process.rank, status);
      return true;
    });
  }

  void note_end(int rank, int status) {
    std::string& error = errors_[static_cast<std::size_t>(rank)];
    if (WIFEXITED(status) && WEXITSTATUS(status) <= kThrew) {
      error = world_.line(rank).error.load();
      return;
    }
    error = describe_death(status);
    world_.poison(rank, error);
    world_.end(rank);
  }

  void kill_all() {
    for (const Process& process : alive_) {
      ::kill(process.pid, SIGKILL);
    }
  }

  ProcessWorld& world_;
  std::vector<std::string> errors_;
  std::vector<Process> alive_;
};

}  // namespace

std::vector<std::string> run_rank_processes(ProcessWorld& world,
                                            const std::function<void(int)>& body) {
  return RankProcesses(world, body).await_all();
}

}  // namespace meshparity
