#include "parallel_impl/comm/world_state.hpp"

#include <fmt/format.h>

#include <memory>
#include <thread>
#include <utility>

namespace meshparity {

WorldState::WorldState(std::vector<std::string> coordinates, std::chrono::milliseconds limit)
    : coordinates_(std::move(coordinates)),
      limit_(limit),
      own_(std::in_place, bytes_for(coordinates_.size())),
      memory_(own_->data()) {
  new (memory_) World{};
  std::uninitialized_value_construct_n(&line(0), coordinates_.size());
}

// A World of zeros is one in which nothing has happened.
WorldState::WorldState(std::vector<std::string> coordinates, std::chrono::milliseconds limit,
                       std::byte* memory)
    : coordinates_(std::move(coordinates)), limit_(limit), memory_(memory) {}

WorldState::RankLine& WorldState::line(int rank) const {
  return reinterpret_cast<RankLine*>(memory_ + sizeof(World))[rank];
}

std::string WorldState::name(int rank) const {
  return fmt::format("rank {} ({})", rank, coordinates_[static_cast<std::size_t>(rank)]);
}

void WorldState::say(int rank, const CollectiveRow& row) {
  world().moves.fetch_add(1, std::memory_order_relaxed);
  line(rank).words.store(describe_call(row));
  line(rank).said.store(1, std::memory_order_release);
}

std::string WorldState::last_said(int rank) const {
  return line(rank).said.load(std::memory_order_acquire) != 0
             ? fmt::format("{}, which last entered {}", name(rank), line(rank).words.load())
             : fmt::format("{}, which has entered nothing yet", name(rank));
}

void WorldState::end(int rank) {
  line(rank).ended.store(1, std::memory_order_release);
  world().moves.fetch_add(1, std::memory_order_relaxed);
}

bool WorldState::has_ended(int rank) const {
  return line(rank).ended.load(std::memory_order_acquire) != 0;
}

// A rank may be killed between its claim and its words; whoever finds it dead then says them, and
// the others wait for that.
void WorldState::fail(int rank, const std::string& what) {
  std::int32_t claimed = 0;
  const bool first = world().first_to_fail.compare_exchange_strong(claimed, rank + 1);
  if (first || (claimed == rank + 1 && !failed())) {
    world().what.store(what);
    world().failed.store(1, std::memory_order_release);
    return;
  }
  while (!failed()) {
    std::this_thread::yield();
  }
}

std::optional<RankFailure> WorldState::first_failure() const {
  if (!failed()) {
    return std::nullopt;
  }
  const int rank = world().first_to_fail.load() - 1;
  return RankFailure{rank, coordinates_[static_cast<std::size_t>(rank)], world().what.load()};
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
