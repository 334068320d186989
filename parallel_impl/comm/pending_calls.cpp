#include "parallel_impl/comm/pending_calls.hpp"

#include <cstring>
#include <limits>
#include <utility>

namespace meshparity {
namespace {

constexpr int kAllBits = 0xFF;  // a NaN in both widths, -1 or 255 in integers

std::size_t bytes_of(const Payload& payload) {
  return static_cast<std::size_t>(payload.count) * element_bytes(payload.type);
}

// An all_gather may find a rank's own part in its place already.
bool lies_in(const Payload& part, const Payload& whole) {
  return part.data >= whole.data && part.data < whole.data + bytes_of(whole);
}

}  // namespace

Ticket PendingCalls::start(const Collective& request, const CollectiveRow& row) {
  const Ticket ticket{tickets_++};
  Call call{request, row, request.output, {}, false};
  if (when_ == Completion::lazy) {
    keep_output_aside(call);
  }
  calls_.emplace(ticket.id, std::move(call));
  if (when_ == Completion::eager) {
    move_started();
  }
  return ticket;
}

// Inputs are read when data move, so that a program which overwrites one too early is found out;
// an input that is the output, or lies in it, must be saved now.
void PendingCalls::keep_output_aside(Call& call) {
  const std::size_t bytes = bytes_of(call.output);
  if (bytes == 0) {
    return;
  }
  call.aside.assign(call.output.data, call.output.data + bytes);
  Collective& request = call.request;
  if (bytes_of(request.input) > 0 && lies_in(request.input, call.output)) {
    request.input.data = call.aside.data() + (request.input.data - call.output.data);
  }
  request.output.data = call.aside.data();
  std::memset(call.output.data, kAllBits, bytes);
}

void PendingCalls::wait(Ticket ticket) {
  Call& call = calls_.at(ticket.id);
  move_started();
  if (!call.moved) {
    move_receives(call, ticket.id);
    move(call);
  }
  if (!call.aside.empty()) {
    std::memcpy(call.output.data, call.aside.data(), call.aside.size());
  }
  calls_.erase(ticket.id);
}

void PendingCalls::at_once(const Collective& request, const CollectiveRow& row) {
  Call call{request, row, request.output, {}, false};
  move_started();
  if (request.kind == CollectiveKind::receive) {
    move_receives(call, std::numeric_limits<std::int64_t>::max());
  }
  move(call);
}

void PendingCalls::move(Call& call) {
  carry_out_(call.request, call.row);
  call.moved = true;
}

// Sends first: a collective may wait for a peer that waits for one of them.
void PendingCalls::move_started() {
  for (const bool sends : {true, false}) {
    for (auto& [ticket, call] : calls_) {
      const CollectiveKind kind = call.request.kind;
      const bool due = kind != CollectiveKind::receive && (kind == CollectiveKind::send) == sends;
      if (due && !call.moved) {
        move(call);
      }
    }
  }
}

void PendingCalls::move_receives(const Call& last, std::int64_t before) {
  const auto sender = [](const Call& call) {
    return call.request.group.ranks[static_cast<std::size_t>(call.request.peer)];
  };
  for (auto& [ticket, call] : calls_) {
    const bool earlier = ticket < before && call.request.kind == CollectiveKind::receive;
    if (earlier && !call.moved && sender(call) == sender(last)) {
      move(call);
    }
  }
}

}  // namespace meshparity
