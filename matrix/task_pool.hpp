// Threads that carry out tasks while their giver goes on; the giver waits when too many are
// outstanding.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace meshparity {

class TaskPool {
 public:
  /// At most `outstanding` tasks wait; give() blocks beyond that.
  TaskPool(int threads, std::size_t outstanding);
  /// Finishes what was given.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  void give(std::function<void()> task);
  /// Waits until everything given is done; throws what a task threw first.
  void finish();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t outstanding_;
  bool closed_ = false;
  std::exception_ptr thrown_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace meshparity
