#include "parallel_impl/comm/thread_comm.hpp"

#include "parallel_impl/comm/exchange.hpp"

namespace meshparity {
namespace {

std::vector<Shown> shown_by(const std::vector<Entry>& entries) {
  std::vector<Shown> shown;
  for (const Entry& entry : entries) {
    shown.push_back({entry.request->input, &entry.request->input_parts});
  }
  return shown;
}

}  // namespace

ThreadComm::ThreadComm(ThreadWorld& world, int rank, Completion when)
    : Comm(world.launch()),
      world_(world),
      rank_(rank),
      pending_(when, [this](const Collective& request, const CollectiveRow& row) {
        move(request, row);
      }) {}

void ThreadComm::move(const Collective& request, const CollectiveRow& row) {
  world_.state().say(rank_, row);
  try {
    carry(request, row);
  } catch (...) {
    world_.wake_all();
    throw;
  }
}

void ThreadComm::carry(const Collective& request, const CollectiveRow& row) {
  if (request.kind != CollectiveKind::send && request.kind != CollectiveKind::receive) {
    meet(request, row);
    return;
  }
  const int peer = request.group.ranks[static_cast<std::size_t>(request.peer)];
  if (request.kind == CollectiveKind::send) {
    world_.mailbox(rank_, peer).put(request, row);
  } else {
    world_.mailbox(peer, rank_).take(request, row);
  }
}

// Two meetings: nobody reads before all have come, and nobody's buffers change before all have
// read. The shared sum of an all_reduce stays whole until every rank has copied it, because the
// next call on this group writes to it only when all have come again.
void ThreadComm::meet(const Collective& request, const CollectiveRow& row) {
  Rendezvous& place = place_of(request.group);
  place.enter({&request, &row});
  read_from(request, shown_by(place.entries()), place.shared());
  std::byte* const sum = place.shared();
  place.leave();
  if (request.kind == CollectiveKind::all_reduce) {
    copy_elements({sum, request.input.count, request.input.type}, 0, request.output, 0,
                  request.output.count);
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
