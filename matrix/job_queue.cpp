#include "matrix/job_queue.hpp"

#include <algorithm>

namespace meshparity {
namespace {

constexpr std::size_t kLargestPart = 16;
constexpr int kFruitlessLimit = 3;

}  // namespace

JobQueue::JobQueue(std::size_t jobs, int takers)
    : takers_(static_cast<std::size_t>(std::max(1, takers))) {
  for (std::size_t job = 0; job < jobs; ++job) {
    waiting_.push_back(job);
  }
}

std::vector<std::size_t> JobQueue::take() {
  const std::lock_guard lock(mutex_);
  const std::size_t share = waiting_.size() / (2 * takers_);
  const std::size_t part_size = std::clamp<std::size_t>(share, 1, kLargestPart);
  const std::size_t count = takers_ == 1 ? waiting_.size() : std::min(waiting_.size(), part_size);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::size_t> part(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return part;
}

void JobQueue::launch_was_fruitless(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++fruitless_;
  why_ = why;
}

void JobQueue::job_began() {
  const std::lock_guard lock(mutex_);
  fruitless_ = 0;
}

std::string JobQueue::why_hopeless() const {
  const std::lock_guard lock(mutex_);
  return fruitless_ >= kFruitlessLimit ? why_ : "";
}

}  // namespace meshparity
