#include "matrix/rebasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace meshparity {
namespace {

constexpr std::size_t kJobsOfLaunch = 16;
constexpr std::size_t kWaiting = 64;  // dumps that lie on disk until their turn

LaunchOutcome not_prepared(const std::exception& error) {
  LaunchOutcome outcome;
  outcome.finished = false;
  outcome.what = error.what();
  return outcome;
}

}  // namespace

Rebasing::Rebasing(LaunchSettings settings, std::function<void(const std::string&)> note)
    : settings_(std::move(settings)),
      note_(std::move(note)),
      takers_(static_cast<std::size_t>(std::max(1, settings_.side_by_side))),
      launching_(static_cast<int>(takers_), kWaiting) {
  settings_.mode = "--rebase";
  settings_.options = {"--threads", "1"};  // launches share the cores with those of candidates
  settings_.side_by_side = 1;
}

// Every rebase brings a task, but a task launches all that is its share: later ones find less.
void Rebasing::give(Rebase rebase) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(rebase));
  }
  launching_.give([this] { launch(take()); });
}

void Rebasing::finish() {
  launching_.finish();
}

/// An equal share of what waits; empty when others took it all.
std::vector<Rebase> Rebasing::take() {
  const std::lock_guard lock(mutex_);
  const std::size_t share = (waiting_.size() + takers_ - 1) / takers_;
  std::vector<Rebase> batch;
  while (batch.size() < std::min(share, kJobsOfLaunch)) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return batch;
}

std::filesystem::path Rebasing::new_folder() {
  const std::lock_guard lock(mutex_);
  std::filesystem::path folder = settings_.folder / fmt::format("part{:04}", launches_++);
  std::filesystem::create_directories(folder);
  return folder;
}

void Rebasing::launch(const std::vector<Rebase>& batch) {
  std::vector<Job> jobs;
  std::vector<const Rebase*> owners;
  for (const Rebase& rebase : batch) {
    try {
      jobs.push_back(rebase.prepare());
      owners.push_back(&rebase);
    } catch (const std::exception& error) {
      rebase.ended(not_prepared(error));
    }
  }
  if (jobs.empty()) {
    return;
  }
  LaunchSettings settings = settings_;
  settings.folder = new_folder();
  const auto ended = [&](std::size_t job, const LaunchOutcome& outcome, double) {
    owners[job]->ended(outcome);
  };
  run_jobs(jobs, settings, {[](std::size_t) {}, ended, note_});
}

}  // namespace meshparity
