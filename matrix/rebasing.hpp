// Restarts the reference from the states of candidates that have ended, in launches beside theirs,
// many jobs a launch.
#pragma once
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "matrix/run_jobs.hpp"
#include "matrix/task_pool.hpp"

namespace meshparity {

/// One candidate's turn.
struct Rebase {
  /// Writes the candidate's state and makes the job; may throw.
  std::function<Job()> prepare;
  /// Called once, with how it ended.
  std::function<void(const LaunchOutcome& outcome)> ended;
};

/// Finishes what was given when it goes.
class Rebasing {
 public:
  /// `settings` for one launch: program, folder, deadline; `side_by_side` of them at a time.
  Rebasing(LaunchSettings settings, std::function<void(const std::string& text)> note);

  /// Waits while too many wait already: their dumps take room.
  void give(Rebase rebase);
  /// Waits until everything given has ended; throws what an `ended` threw first.
  void finish();

 private:
  std::vector<Rebase> take();
  void launch(const std::vector<Rebase>& batch);
  std::filesystem::path new_folder();

  LaunchSettings settings_;  // of one launch
  std::function<void(const std::string&)> note_;
  std::size_t takers_;
  std::mutex mutex_;
  std::deque<Rebase> waiting_;
  int launches_ = 0;
  TaskPool launching_;  // last: its tasks use everything above
};

}  // namespace meshparity
