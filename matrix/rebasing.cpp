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
    : settings_(std::move(settings)), note_(std::move(note)) {
  settings_.mode = "--rebase";
  settings_.options = {"--threads", "1"};  // launches share the cores with those of candidates
  takers_ = static_cast<std::size_t>(std::max(1, settings_.side_by_side));
  settings_.side_by_side = 1;
  for (std::size_t i = 0; i < takers_; ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

Rebasing::~Rebasing() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void Rebasing::give(Rebase rebase) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < kWaiting; });
  waiting_.push_back(std::move(rebase));
  changed_.notify_all();
}

void Rebasing::finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  threads_.clear();  // joins
  if (thrown_) {
    std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
}

/// An equal share of what waits; empty at the end.
std::vector<Rebase> Rebasing::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  const std::size_t share = (waiting_.size() + takers_ - 1) / takers_;
  std::vector<Rebase> batch;
  while (!waiting_.empty() && batch.size() < std::min(share, kJobsOfLaunch)) {
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  changed_.notify_all();
  return batch;
}

void Rebasing::work() {
  for (auto batch = take(); !batch.empty(); batch = take()) {
    try {
      launch(batch);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      thrown_ = thrown_ ? thrown_ : std::current_exception();
    }
  }
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
