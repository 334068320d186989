#include "parallel_impl/comm/thread_comm.hpp"

#include <cstring>

#include "parallel_impl/comm/ordered_sum.hpp"

namespace meshparity {
namespace {

// What a member copies when all are inside; `others[i]` is the call of the group's i-th rank.
using Others = std::vector<Entry>;

void copy_elements(const Payload& from, std::int64_t first, const Payload& to, std::int64_t place,
                   std::int64_t count) {
  const auto width = static_cast<std::int64_t>(element_bytes(to.type));
  std::byte* const target = to.data + place * width;
  const std::byte* const source = from.data + first * width;
  if (count > 0 && target != source) {
    std::memcpy(target, source, static_cast<std::size_t>(count * width));
  }
}

std::vector<const std::byte*> inputs_of(const Others& others) {
  std::vector<const std::byte*> inputs;
  for (const Entry& other : others) {
    inputs.push_back(other.request->input.data);
  }
  return inputs;
}

// Each rank reduces its slice of the elements for all: with 8 ranks every element is added once,
// not eight times.
void reduce_slice(const Collective& request, const Others& others, std::byte* shared) {
  const std::int64_t total = request.input.count;
  const std::int64_t size = request.group.size();
  const std::int64_t begin = total * request.group.index / size;
  const std::int64_t end = total * (request.group.index + 1) / size;
  const std::vector<const std::byte*> inputs = inputs_of(others);
  const auto width = static_cast<std::int64_t>(element_bytes(request.input.type));
  reduce_in_order({inputs, begin, end - begin, request.input.type, request.op},
                  shared + begin * width);
}

void reduce_own_part(const Collective& request, const Others& others) {
  const std::vector<const std::byte*> inputs = inputs_of(others);
  reduce_in_order({inputs, part_offset(request.output_parts, request.group.index),
                   request.output.count, request.input.type, request.op},
                  request.output.data);
}

void gather_parts(const Collective& request, const Others& others) {
  std::int64_t place = 0;
  for (std::size_t from = 0; from < others.size(); ++from) {
    const std::int64_t count = request.output_parts[from];
    copy_elements(others[from].request->input, 0, request.output, place, count);
    place += count;
  }
}

void exchange_parts(const Collective& request, const Others& others) {
  std::int64_t place = 0;
  for (std::size_t from = 0; from < others.size(); ++from) {
    const Collective& sender = *others[from].request;
    const std::int64_t count = request.output_parts[from];
    copy_elements(sender.input, part_offset(sender.input_parts, request.group.index),
                  request.output, place, count);
    place += count;
  }
}

// Peers wait for this without a limit, so nothing here may throw.
void read_from(const Collective& request, const Others& others, std::byte* shared) noexcept {
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return reduce_slice(request, others, shared);
    case CollectiveKind::all_gather:
      return gather_parts(request, others);
    case CollectiveKind::reduce_scatter:
      return reduce_own_part(request, others);
    case CollectiveKind::all_to_all:
      return exchange_parts(request, others);
    case CollectiveKind::broadcast:
      return copy_elements(others[static_cast<std::size_t>(request.peer)].request->input, 0,
                           request.output, 0, request.output.count);
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::barrier:
      return;
  }
}

}  // namespace

ThreadComm::ThreadComm(ThreadWorld& world, int rank)
    : Comm(world.launch()), world_(world), rank_(rank) {}

Ticket ThreadComm::transport_start(const Collective& request, const CollectiveRow& row) {
  world_.state().say(rank_, row);
  try {
    begin(request, row, tickets_);
  } catch (...) {
    world_.wake_all();
    throw;
  }
  return {tickets_++};
}

void ThreadComm::begin(const Collective& request, const CollectiveRow& row, std::int64_t ticket) {
  if (request.kind != CollectiveKind::send && request.kind != CollectiveKind::receive) {
    meet(request, row);
    return;
  }
  const int peer = request.group.ranks[static_cast<std::size_t>(request.peer)];
  if (request.kind == CollectiveKind::send) {
    world_.mailbox(rank_, peer).put(request, row);
  } else {
    receives_.emplace(ticket, Receive{request, row});
  }
}

// Two meetings: nobody reads before all have come, and nobody's buffers change before all have
// read. The shared sum of an all_reduce stays whole until every rank has copied it, because the
// next call on this group writes to it only when all have come again.
void ThreadComm::meet(const Collective& request, const CollectiveRow& row) {
  Rendezvous& place = place_of(request.group);
  place.enter({&request, &row});
  read_from(request, place.entries(), place.shared());
  std::byte* const sum = place.shared();
  place.leave();
  if (request.kind == CollectiveKind::all_reduce) {
    copy_elements({sum, request.input.count, request.input.type}, 0, request.output, 0,
                  request.output.count);
  }
}

void ThreadComm::transport_wait(Ticket ticket) {
  const auto found = receives_.find(ticket.id);
  if (found == receives_.end()) {
    return;
  }
  const Receive receive = found->second;
  receives_.erase(found);
  const CommGroup& group = receive.request.group;
  try {
    world_.mailbox(group.ranks[static_cast<std::size_t>(receive.request.peer)], rank_)
        .take(receive.request, receive.row);
  } catch (...) {
    world_.wake_all();
    throw;
  }
}

Rendezvous& ThreadComm::place_of(const CommGroup& group) {
  const auto [found, fresh] = places_.emplace(group.ranks, nullptr);
  if (fresh) {
    found->second = &world_.rendezvous(group.ranks);
  }
  return *found->second;
}

}  // namespace meshparity
