#include "parallel_impl/worker/event_log.hpp"

#include <ostream>

namespace meshparity {

void EventLog::begun(std::size_t job) {
  JobEvent event;
  event.job = job;
  say(event);
}

void EventLog::done(std::size_t job, double seconds) {
  JobEvent event;
  event.job = job;
  event.state = JobEvent::State::done;
  event.seconds = seconds;
  say(event);
}

void EventLog::failed(std::size_t job, const RankFailure& failure) {
  JobEvent event;
  event.job = job;
  event.state = JobEvent::State::failed;
  event.rank = failure.rank;
  event.coordinate = failure.coordinate;
  event.what = failure.what;
  say(event);
}

bool EventLog::any_failed() const {
  const std::lock_guard guard(lock_);
  return any_failed_;
}
void EventLog::say(const JobEvent& event) {
  const std::lock_guard guard(lock_);
  any_failed_ = any_failed_ || event.state == JobEvent::State::failed;
  out_ << format_event(event) << '\n' << std::flush;
}

}  // namespace meshparity
