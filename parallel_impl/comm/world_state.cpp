#include "parallel_impl/comm/world_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace meshparity {

WorldState::WorldState(std::vector<std::string> coordinates, std::chrono::milliseconds limit)
    : coordinates_(std::move(coordinates)), limit_(limit), lines_(coordinates_.size()) {}

std::string WorldState::name(int rank) const {
  return fmt::format("rank {} ({})", rank, coordinates_[static_cast<std::size_t>(rank)]);
}

void WorldState::say(int rank, const CollectiveRow& row) {
  moves_.fetch_add(1, std::memory_order_relaxed);
  RankLine& line = lines_[static_cast<std::size_t>(rank)];
  const std::lock_guard guard(line.lock);
  line.row = row;
  line.said = true;
}

std::string WorldState::last_said(int rank) const {
  const RankLine& line = lines_[static_cast<std::size_t>(rank)];
  const std::lock_guard guard(line.lock);
  return line.said ? fmt::format("{}, which last entered {}", name(rank), describe_call(line.row))
                   : fmt::format("{}, which has entered nothing yet", name(rank));
}

void WorldState::end(int rank) {
  lines_[static_cast<std::size_t>(rank)].ended.store(true, std::memory_order_release);
  moves_.fetch_add(1, std::memory_order_relaxed);
}

bool WorldState::has_ended(int rank) const {
  return lines_[static_cast<std::size_t>(rank)].ended.load(std::memory_order_acquire);
}

void WorldState::fail(int rank, const std::string& what) {
  const std::lock_guard guard(failure_lock_);
  if (!failure_) {
    failure_ = RankFailure{rank, coordinates_[static_cast<std::size_t>(rank)], what};
    failed_.store(true, std::memory_order_release);
  }
}

std::optional<RankFailure> WorldState::first_failure() const {
  const std::lock_guard guard(failure_lock_);
  return failure_;
}

void WorldState::throw_peer_failed(const CollectiveRow& row, int rank) const {
  const RankFailure failure = first_failure().value();
  throw PeerFailed(fmt::format("{} failed: {} ({} was in {})", name(failure.rank), failure.what,
                               name(rank), describe_call(row)));
}

std::string describe_call(const CollectiveRow& row) {
  return fmt::format("{} of {} {} at {} (sequence {}, step {}, micro-batch {}, {}: {})", row.kind,
                     row.count, row.type, row.site, row.sequence, row.step, row.mb, row.axis,
                     row.group);
}

}  // namespace meshparity
