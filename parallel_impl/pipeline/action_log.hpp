// What a rank did, in its order, on the logical clock (fixtures/DUMP_FORMAT.md, /ledger/actions).
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/dump.hpp"

namespace meshparity {

class ActionLog {
 public:
  using Clock = std::chrono::steady_clock;
  /// Wall times count from `launch`.
  explicit ActionLog(Clock::time_point launch) : launch_(launch) {}

  /// Logical time of this rank in the step.
  std::int64_t now() const { return now_; }
  /// Each step begins at 0.
  void begin_step() { now_ = 0; }
  /// A message of a rank that was at `clock` has arrived: no earlier than it was sent.
  void arrived(std::int64_t clock) { now_ = std::max(now_, clock); }

  struct What {
    std::string_view kind;
    int chunk = 0;
    int mb = 0;
    int version = 0;
  };
  /// Carries out `work` as an action that takes `duration`.
  template <class Work>
  void carry_out(const What& what, std::int64_t duration, const Work& work) {
    ActionRow row{std::string(what.kind), what.chunk, what.mb, what.version};
    row.wall_start = nanoseconds();
    work();
    row.wall_end = nanoseconds();
    row.logical_start = now_;
    now_ += duration;
    row.logical_end = now_;
    rows_.push_back(std::move(row));
  }

  const std::vector<ActionRow>& rows() const { return rows_; }

 private:
  std::int64_t nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - launch_).count();
  }

  Clock::time_point launch_;
  std::int64_t now_ = 0;
  std::vector<ActionRow> rows_;
};

}  // namespace meshparity
