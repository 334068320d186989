#include "parallel_impl/comm/comm.hpp"

#include <fmt/format.h>

#include <cassert>

#include "fixtures/error.hpp"

namespace meshparity {

Ticket Comm::start(const Collective& request) {
  require_well_formed(request, rank());
  if (request.group.size() == 1) {
    keep_own(request);
    return {};
  }
  const std::size_t place = enter(request);
  const Ticket ticket = transport_start(request, ledger_[place]);
  if (board_ != nullptr) {
    board_->leave(rank());
  }
  const bool fresh = pending_.emplace(ticket.id, place).second;
  assert(fresh && ticket.id >= 0);
  static_cast<void>(fresh);
  return ticket;
}

void Comm::wait(Ticket ticket) {
  if (ticket.id < 0) {
    return;
  }
  const auto pending = pending_.find(ticket.id);
  if (pending == pending_.end()) {
    throw Error(fmt::format("rank {}: waiting for operation {}, which is not under way", rank(),
                            ticket.id));
  }
  if (board_ != nullptr) {
    board_->set_state(rank(), RankState::waiting);
  }
  transport_wait(ticket);
  close(pending->second);
  pending_.erase(pending);
}

void Comm::carry_out(const Collective& request) {
  require_well_formed(request, rank());
  if (request.group.size() == 1) {
    keep_own(request);
    return;
  }
  const std::size_t place = enter(request);
  transport_at_once(request, ledger_[place]);
  close(place);
}

std::size_t Comm::enter(const Collective& request) {
  ledger_.push_back(row_of(request));
  if (board_ != nullptr) {
    const CollectiveRow& row = ledger_.back();
    board_->enter(rank(), row.site, fmt::format("{}: {}", row.axis, row.group));
  }
  return ledger_.size() - 1;
}

void Comm::close(std::size_t place) {
  if (board_ != nullptr) {
    board_->leave(rank());
  }
  CollectiveRow& row = ledger_[place];
  row.logical_end = logical_clock_++;
  row.wall_end = nanoseconds();
}

void Comm::barrier(const CommGroup& group, const Site& site) {
  carry_out(describe(CollectiveKind::barrier, group, site));
}

void Comm::clear_ledger() {
  if (!pending_.empty()) {
    throw Error(fmt::format("rank {}: clearing the ledger while {} operations are under way",
                            rank(), pending_.size()));
  }
  ledger_.clear();
}

Collective Comm::describe(CollectiveKind kind, const CommGroup& group, const Site& site) {
  Collective request;
  request.kind = kind;
  request.group = group;
  request.site = site;
  return request;
}

CollectiveRow Comm::row_of(const Collective& request) {
  CollectiveRow row = ledger_row(request);
  row.sequence = ++sequence_;
  row.logical_start = logical_clock_++;
  row.wall_start = nanoseconds();
  return row;
}

std::int64_t Comm::nanoseconds() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - launch_).count();
}

}  // namespace meshparity
