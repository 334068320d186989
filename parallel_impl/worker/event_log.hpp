// The lines of a launch, one an event (fixtures/job.hpp).
#pragma once
#include <cstddef>
#include <iosfwd>
#include <mutex>

#include "fixtures/job.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// The computing and the writing thread may both speak.
class EventLog {
 public:
  explicit EventLog(std::ostream& out) : out_(out) {}

  void begun(std::size_t job);
  void done(std::size_t job, double seconds);
  void failed(std::size_t job, const RankFailure& failure);
  bool any_failed() const;

 private:
  void say(const JobEvent& event);

  mutable std::mutex lock_;
  std::ostream& out_;
  bool any_failed_ = false;
};

}  // namespace meshparity
