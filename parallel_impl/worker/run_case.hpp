// One case, all its ranks as threads of this process, and the evidence they leave in memory.
#pragma once
#include <chrono>
#include <optional>
#include <vector>

#include "parallel_impl/comm/thread_world.hpp"
#include "parallel_impl/worker/run_rank.hpp"

namespace meshparity {

struct CaseEvidence {
  std::vector<RankEvidence> ranks;
  std::optional<RankFailure> failure;  // of the rank that threw first, not of those it took along
};

/// Runs `body` on every rank, with a progress board at <out>/board.bin; faults of the case are
/// planted. A rank that throws is a failure in the evidence, never an exception.
CaseEvidence run_case(const LoadedCase& loaded, const RankBody& body,
                      std::chrono::milliseconds time_limit);

/// Writes rank_0000.h5 and so on into the job's folder.
void write_dump(const Job& job, const CaseEvidence& evidence);

}  // namespace meshparity
