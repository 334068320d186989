#include "matrix/task_pool.hpp"

#include <algorithm>
#include <utility>

namespace meshparity {

TaskPool::TaskPool(int threads, std::size_t outstanding) : outstanding_(outstanding) {
  for (int i = 0; i < std::max(1, threads); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

TaskPool::~TaskPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void TaskPool::give(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.size() < outstanding_; });
  waiting_.push_back(std::move(task));
  changed_.notify_all();
}

void TaskPool::finish() {
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

void TaskPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) {
      return;
    }
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    std::exception_ptr thrown;
    try {
      task();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = thrown_ ? thrown_ : thrown;
  }
}

}  // namespace meshparity
