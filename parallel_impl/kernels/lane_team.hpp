// For tests: a group of N lanes as N threads with a real barrier, so that a kernel body shows with
// no GPU whether its strides and barriers are right (ThreadSanitizer finds a missing one).
#pragma once
#include <barrier>
#include <thread>
#include <vector>

#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

class LaneTeam {
 public:
  explicit LaneTeam(int size)
      : size_(size), barrier_(size), slots_(static_cast<std::size_t>(size)) {}

  class Lane {
   public:
    Lane(LaneTeam& team, int lane) : team_(team), lane_(lane) {}
    int lane() const { return lane_; }
    int size() const { return team_.size_; }
    void sync() const { team_.barrier_.arrive_and_wait(); }

    /// From lane 0 to the last.
    template <class T>
    T sum(T value) const {
      return combine(value, [](T a, T b) { return a + b; });
    }
    template <class T>
    T max(T value) const {
      return combine(value, [](T a, T b) { return b > a ? b : a; });
    }

   private:
    template <class T, class Operation>
    T combine(T value, Operation operation) const {
      team_.slots_[static_cast<std::size_t>(lane_)] = static_cast<double>(value);
      sync();
      T result = static_cast<T>(team_.slots_[0]);
      for (std::size_t i = 1; i < team_.slots_.size(); ++i) {
        result = operation(result, static_cast<T>(team_.slots_[i]));
      }
      sync();  // nobody writes a slot that another still reads
      return result;
    }

    LaneTeam& team_;
    int lane_;
  };

  /// All indices of a kernel, one after the other, each on the whole team.
  template <class Kernel>
  void run(const Kernel& kernel) {
    std::vector<std::jthread> threads;
    for (int lane = 0; lane < size_; ++lane) {
      threads.emplace_back([this, &kernel, lane] {
        const Lane self(*this, lane);
        for (int index = 0; index < kernel.groups(); ++index) {
          kernel(self, index);
        }
      });
    }
  }

 private:
  int size_;
  std::barrier<> barrier_;
  std::vector<double> slots_;
};

/// 1 lane is a host, 3 find wrong strides, 32 are what a warp would do.
inline constexpr int kLaneCounts[] = {1, 3, 32};

}  // namespace meshparity
