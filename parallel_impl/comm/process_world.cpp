#include "parallel_impl/comm/process_world.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <memory>
#include <utility>

namespace meshparity {
namespace {

constexpr std::size_t kAreas = 3;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Not the private kind: the word lies in memory that processes share.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* longest) {
  return ::syscall(SYS_futex, &word, operation, value, longest, nullptr, 0);
}

std::size_t count_of(const WorldState& state) {
  return static_cast<std::size_t>(state.size());
}

}  // namespace

ProcessWorld::ProcessWorld(std::vector<std::string> coordinates, std::chrono::milliseconds limit)
    : state_(std::move(coordinates), limit),
      lines_(count_of(state_) * sizeof(ProcessLine)),
      pairs_(count_of(state_) * count_of(state_) * sizeof(ProcessPair)),
      areas_(count_of(state_) * kAreas * kAreaBytes) {
  std::uninitialized_default_construct_n(&line(0), count_of(state_));
  std::uninitialized_default_construct_n(&pair(0, 0), count_of(state_) * count_of(state_));
}

ProcessLine& ProcessWorld::line(int rank) const {
  return reinterpret_cast<ProcessLine*>(lines_.data())[rank];
}

ProcessPair& ProcessWorld::pair(int from, int to) const {
  return reinterpret_cast<ProcessPair*>(pairs_.data())[from * size() + to];
}

std::byte* ProcessWorld::area(int rank, std::size_t which) const {
  return areas_.data() + (static_cast<std::size_t>(rank) * kAreas + which) * kAreaBytes;
}

void ProcessWorld::ring(int rank) const {
  ProcessLine& it = line(rank);
  it.bell.fetch_add(1);
  if (it.sleeping.load() != 0) {
    futex(it.bell, FUTEX_WAKE, 1, nullptr);
  }
}

void ProcessWorld::ring_all() const {
  for (int rank = 0; rank < size(); ++rank) {
    ring(rank);
  }
}

bool ProcessWorld::sleep(int rank, std::uint32_t& heard, std::chrono::milliseconds longest) const {
  ProcessLine& own = line(rank);
  const auto nanoseconds = std::chrono::nanoseconds(longest).count();
  const timespec time{nanoseconds / 1000000000, nanoseconds % 1000000000};
  own.sleeping.store(1);
  futex(own.bell, FUTEX_WAIT, heard, &time);
  own.sleeping.store(0);
  const std::uint32_t before = std::exchange(heard, own.bell.load());
  return heard != before;
}

void ProcessWorld::end(int rank) {
  state_.end(rank);
  ring_all();
}

void ProcessWorld::poison(int rank, const std::string& why) {
  state_.fail(rank, why);
  ring_all();
}

// No limit: a rank may compute for long after its last call, as it may beside others. Whoever
// started the ranks watches the board.
void ProcessWorld::await_all_ended(int rank) const {
  std::uint32_t heard = line(rank).bell.load();
  for (int other = 0; other < size();) {
    if (state_.failed()) {
      const RankFailure failure = first_failure().value();
      throw PeerFailed(fmt::format("{} failed: {}", state_.name(failure.rank), failure.what));
    }
    if (state_.has_ended(other)) {
      ++other;
    } else {
      sleep(rank, heard, state_.limit());
    }
  }
}

std::uint64_t ProcessWorld::messages_left() const {
  std::uint64_t left = 0;
  for (int from = 0; from < size(); ++from) {
    for (int to = 0; to < size(); ++to) {
      left += pair(from, to).sent.load() - pair(from, to).taken.load();
    }
  }
  return left;
}

}  // namespace meshparity
