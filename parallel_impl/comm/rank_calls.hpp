// For tests of transports: a world of threads, its groups, and requests written in one line.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parallel_impl/comm/rank_threads.hpp"
#include "parallel_impl/comm/thread_comm.hpp"

namespace meshparity {

/// Coordinates "r0", "r1", ...
inline std::vector<std::string> numbered_coordinates(int world) {
  std::vector<std::string> names;
  for (int rank = 0; rank < world; ++rank) {
    names.push_back("r" + std::to_string(rank));
  }
  return names;
}

/// Runs `body` on every rank of a fresh world; what each rank threw.
inline std::vector<std::string> on_ranks(int world, const std::function<void(ThreadComm&)>& body,
                                         std::chrono::milliseconds limit = kDefaultTimeLimit) {
  ThreadWorld threads(numbered_coordinates(world), limit);
  return run_rank_threads(threads, [&](int rank) {
    ThreadComm comm(threads, rank);
    body(comm);
  });
}

/// The group of these ranks in this order, as `rank` sees it.
inline CommGroup group_of(std::vector<int> ranks, int rank, std::string axis = "tp") {
  CommGroup group{std::move(axis), std::move(ranks), 0};
  while (group.ranks[static_cast<std::size_t>(group.index)] != rank) {
    ++group.index;
  }
  return group;
}

inline CommGroup everyone(const Comm& comm) {
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.world(); ++rank) {
    ranks.push_back(rank);
  }
  return group_of(std::move(ranks), comm.rank());
}

inline Payload doubles(std::vector<double>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), static_cast<std::int64_t>(values.size()),
          ElementType::float64};
}

inline Site site_of(std::string role, int layer = 0) {
  return {layer, std::move(role), "forward"};
}

/// A request without buffers, for the kinds that Comm has no template for.
inline Collective call_of(CollectiveKind kind, CommGroup group, int peer = -1) {
  Collective request;
  request.kind = kind;
  request.group = std::move(group);
  request.peer = peer;
  request.site = site_of("test");
  return request;
}

inline void carry_out(Comm& comm, const Collective& request) {
  comm.wait(comm.start(request));
}

}  // namespace meshparity
