#include "parallel_impl/comm/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

int world_rank(const Entry& entry) {
  return entry.request->group.ranks[static_cast<std::size_t>(entry.request->group.index)];
}

bool counts_agree(const Entry& a, const Entry& b) {
  return a.request->kind == CollectiveKind::all_to_all || a.row->count == b.row->count;
}

bool parts_agree(const Entry& a, const Entry& b) {
  return a.request->kind == CollectiveKind::all_to_all ||
         a.request->output_parts == b.request->output_parts;
}

bool roots_agree(const Entry& a, const Entry& b) {
  return a.request->kind != CollectiveKind::broadcast || a.request->peer == b.request->peer;
}

// What differs between two calls that should be one; empty when nothing does.
std::string_view first_difference(const Entry& a, const Entry& b) {
  if (a.row->kind != b.row->kind) {
    return "kind";
  }
  if (a.row->site != b.row->site) {
    return "site";
  }
  if (a.row->step != b.row->step || a.row->mb != b.row->mb) {
    return "step or micro-batch";
  }
  if (a.row->axis != b.row->axis || a.row->group != b.row->group) {
    return "group";
  }
  if (a.row->type != b.row->type) {
    return "element type";
  }
  if (!counts_agree(a, b)) {
    return "count";
  }
  if (!parts_agree(a, b)) {
    return "parts";
  }
  if (!roots_agree(a, b)) {
    return "root";
  }
  return a.request->op == b.request->op ? "" : "operation";
}

}  // namespace

Rendezvous::Rendezvous(WorldState& state, int size)
    : state_(state), entries_(static_cast<std::size_t>(size)) {}

void Rendezvous::enter(const Entry& mine) {
  std::unique_lock guard(lock_);
  if (state_.failed()) {
    state_.throw_peer_failed(*mine.row, world_rank(mine));
  }
  refuse_unlike(mine);
  entries_[static_cast<std::size_t>(mine.request->group.index)] = mine;
  const std::uint64_t meeting = admitted_.load(std::memory_order_relaxed) + 1;
  if (++inside_ == static_cast<int>(entries_.size())) {
    refuse_unlike_parts(mine);
    admit_all();
    return;
  }
  const auto complete = [&] { return admitted_.load(std::memory_order_acquire) >= meeting; };
  guard.unlock();
  if (yield_until(complete)) {
    return;
  }
  guard.lock();
  const WaitEnd end = wait_patiently(guard, condition_, state_, complete,
                                     [&] { return !missing_that_ended(mine).empty(); });
  if (end != WaitEnd::done) {
    give_up(mine, end);
  }
}

void Rendezvous::leave() {
  const std::uint64_t meeting = admitted_.load(std::memory_order_relaxed);
  {
    const std::lock_guard guard(lock_);
    if (++leaving_ == static_cast<int>(entries_.size())) {
      std::fill(entries_.begin(), entries_.end(), Entry{});
      leaving_ = 0;
      inside_ = 0;
      dissolved_.store(meeting, std::memory_order_release);
      condition_.notify_all();
      return;
    }
  }
  const auto dissolved = [&] { return dissolved_.load(std::memory_order_acquire) >= meeting; };
  if (!yield_until(dissolved)) {
    std::unique_lock guard(lock_);
    condition_.wait(guard, dissolved);
  }
}

void Rendezvous::wake() {
  const std::lock_guard guard(lock_);
  condition_.notify_all();
}

void Rendezvous::refuse_unlike(const Entry& mine) const {
  for (const Entry& other : entries_) {
    if (other.request == nullptr) {
      continue;
    }
    const std::string_view difference = first_difference(mine, other);
    if (!difference.empty()) {
      fail_and_throw(
          mine, fmt::format("{} entered {}, but {} is in {}: they differ in {}",
                            state_.name(world_rank(mine)), describe_call(*mine.row),
                            state_.name(world_rank(other)), describe_call(*other.row), difference));
    }
    return;  // the others inside were compared with this one
  }
}

void Rendezvous::refuse_unlike_parts(const Entry& mine) const {
  if (mine.request->kind != CollectiveKind::all_to_all) {
    return;
  }
  for (std::size_t to = 0; to < entries_.size(); ++to) {
    for (std::size_t from = 0; from < entries_.size(); ++from) {
      const std::int64_t sent = entries_[from].request->input_parts[to];
      const std::int64_t awaited = entries_[to].request->output_parts[from];
      if (sent != awaited) {
        fail_and_throw(
            mine, fmt::format("{}: {} sends {} elements to {}, which awaits {}",
                              describe_call(*mine.row), state_.name(world_rank(entries_[from])),
                              sent, state_.name(world_rank(entries_[to])), awaited));
      }
    }
  }
}

void Rendezvous::admit_all() {
  const Collective& request = *entries_.front().request;
  const std::size_t bytes =
      request.kind == CollectiveKind::all_reduce
          ? static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type)
          : 0;
  if (shared_.size() < bytes) {
    shared_.resize(bytes);
  }
  admitted_.fetch_add(1, std::memory_order_release);
  condition_.notify_all();
}

std::vector<int> Rendezvous::missing(const Entry& mine) const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].request == nullptr) {
      ranks.push_back(mine.request->group.ranks[i]);
    }
  }
  return ranks;
}

std::vector<int> Rendezvous::missing_that_ended(const Entry& mine) const {
  std::vector<int> ranks = missing(mine);
  std::erase_if(ranks, [&](int rank) { return !state_.has_ended(rank); });
  return ranks;
}

void Rendezvous::give_up(const Entry& mine, WaitEnd end) const {
  const int rank = world_rank(mine);
  if (end == WaitEnd::peer_failed) {
    state_.throw_peer_failed(*mine.row, rank);
  }
  const bool ended = end == WaitEnd::peer_ended;
  std::string text =
      fmt::format("{} waits in {} for ", state_.name(rank), describe_call(*mine.row));
  std::string_view joint;
  for (const int absent : ended ? missing_that_ended(mine) : missing(mine)) {
    text += joint;
    text += state_.last_said(absent);
    joint = "; ";
  }
  text += ended ? ", and has ended"
                : fmt::format(", and nothing moved for {} ms", state_.limit().count());
  fail_and_throw(mine, text);
}

void Rendezvous::fail_and_throw(const Entry& mine, const std::string& what) const {
  state_.fail(world_rank(mine), what);
  throw Error(what);
}

}  // namespace meshparity
