// Restarts the reference from the states of candidates that have ended, in launches beside theirs,
// many jobs a launch.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "matrix/run_jobs.hpp"

namespace meshparity {

/// One candidate's turn.
struct Rebase {
  /// Writes the candidate's state and makes the job; may throw.
  std::function<Job()> prepare;
  /// Called once, with how it ended.
  std::function<void(const LaunchOutcome& outcome)> ended;
};

class Rebasing {
 public:
  /// `settings` for one launch: program, folder, deadline; `side_by_side` of them at a time.
  Rebasing(LaunchSettings settings, std::function<void(const std::string& text)> note);
  /// Finishes what was given.
  ~Rebasing();
  Rebasing(const Rebasing&) = delete;
  Rebasing& operator=(const Rebasing&) = delete;

  /// Waits while too many wait already: their dumps take room.
  void give(Rebase rebase);
  /// Waits until everything given has ended; throws what an `ended` threw first.
  void finish();

 private:
  void work();
  std::vector<Rebase> take();
  void launch(const std::vector<Rebase>& batch);
  std::filesystem::path new_folder();

  LaunchSettings settings_;  // of one launch
  std::function<void(const std::string&)> note_;
  std::size_t takers_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Rebase> waiting_;
  int launches_ = 0;
  bool closed_ = false;
  std::exception_ptr thrown_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace meshparity
