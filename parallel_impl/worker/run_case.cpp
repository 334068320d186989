#include "parallel_impl/worker/run_case.hpp"

#include <string>

#include "parallel_impl/comm/rank_threads.hpp"
#include "parallel_impl/comm/thread_comm.hpp"

namespace meshparity {
namespace {

std::optional<RankFailure> failure_of(ThreadWorld& world) {
  if (const std::optional<RankFailure> failure = world.first_failure()) {
    return failure;
  }
  const std::size_t left = world.messages_left();
  return left == 0 ? std::nullopt : std::optional(messages_left_over(left));
}

}  // namespace

CaseEvidence run_case(const LoadedCase& loaded, const RankBody& body,
                      std::chrono::milliseconds time_limit) {
  CaseEvidence evidence;
  for (int rank = 0; rank < loaded.spec.mesh.world_size(); ++rank) {
    evidence.ranks.push_back(empty_evidence(loaded, rank));
  }
  ThreadWorld world(rank_coordinates(loaded), time_limit);
  BoardWriter board(loaded.job.out / "board.bin", world.size());
  run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank, completion_of(loaded));
    run_rank(loaded, body, comm, board, evidence.ranks[static_cast<std::size_t>(rank)]);
  });
  evidence.failure = failure_of(world);
  return evidence;
}

void write_dump(const Job& job, const CaseEvidence& evidence) {
  for (const RankEvidence& rank : evidence.ranks) {
    write_rank(job, rank);
  }
}

}  // namespace meshparity
