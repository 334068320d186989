#include "parallel_impl/worker/forked_case.hpp"

#include "parallel_impl/comm/process_comm.hpp"
#include "parallel_impl/comm/rank_processes.hpp"

namespace meshparity {
namespace {

// Files are written when all ranks have computed, so that a case that fails leaves none.
void compute_and_write(const LoadedCase& loaded, const RankBody& body, ProcessWorld& world,
                       BoardWriter& board, int rank) {
  ProcessComm comm(world, rank, completion_of(loaded));
  RankEvidence evidence = empty_evidence(loaded, rank);
  run_rank(loaded, body, comm, board, evidence);
  world.end(rank);
  world.await_all_ended(rank);
  if (world.messages_left() == 0) {
    write_rank(loaded.job, evidence);
  }
}

}  // namespace

std::optional<RankFailure> run_forked_case(const LoadedCase& loaded, const RankBody& body,
                                           std::chrono::milliseconds time_limit) {
  ProcessWorld world(rank_coordinates(loaded), time_limit);
  BoardWriter board(loaded.job.out / "board.bin", world.size());
  run_rank_processes(world, [&](int rank) { compute_and_write(loaded, body, world, board, rank); });
  if (const std::optional<RankFailure> failure = world.first_failure()) {
    return failure;
  }
  const std::uint64_t left = world.messages_left();
  return left == 0 ? std::nullopt : std::optional(messages_left_over(left));
}

}  // namespace meshparity
