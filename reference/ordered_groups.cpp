#include "reference/ordered_groups.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace meshparity::reference {
namespace {

/// Hands out groups in order and lets them add in order.
class GroupQueue {
 public:
  explicit GroupQueue(int groups) : groups_(groups) {}

  /// The next group, or -1 when there is none or a thread has failed.
  int take() {
    const std::scoped_lock lock(mutex_);
    return failure_ || taken_ == groups_ ? -1 : taken_++;
  }

  /// Waits until all groups before this one have been added; false when a thread has failed.
  bool wait_for_turn(int group) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || added_ == group; });
    return !failure_;
  }
  void end_turn() {
    const std::scoped_lock lock(mutex_);
    ++added_;
    changed_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) {
      failure_ = failure;
    }
    changed_.notify_all();
  }
  void rethrow() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int groups_;
  int taken_ = 0;
  int added_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void run_groups(int groups, int threads, const std::function<void(int, int)>& work,
                const std::function<void(int, int)>& add) {
  GroupQueue queue(groups);
  const auto run = [&](int thread) {
    try {
      for (int group = queue.take(); group >= 0; group = queue.take()) {
        work(thread, group);
        if (queue.wait_for_turn(group)) {
          add(thread, group);
          queue.end_turn();
        }
      }
    } catch (...) {
      queue.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int thread = 1; thread < std::min(threads, groups); ++thread) {
      workers.emplace_back(run, thread);
    }
    run(0);
  }
  queue.rethrow();
}

}  // namespace meshparity::reference
