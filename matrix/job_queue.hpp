// The jobs that wait for a launch, handed out in their stable order, in parts that shrink so that
// launches side by side end together.
#pragma once
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace meshparity {

class JobQueue {
 public:
  JobQueue(std::size_t jobs, int takers);

  /// The next part: half of a taker's share of what is left, 1 to 16 jobs, but all of them where
  /// there is one taker; empty at the end.
  std::vector<std::size_t> take();
  /// Counts launches in a row in which no job began; a job that begins resets the count.
  void launch_was_fruitless(const std::string& why);
  void job_began();
  /// The last reason after three of them in a row (further launches would do no better), else
  /// empty.
  std::string why_hopeless() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::size_t> waiting_;
  std::size_t takers_;
  int fruitless_ = 0;
  std::string why_;
};

}  // namespace meshparity
