// One rank of a case: what it is given, what it computes, the evidence it leaves in memory.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fixtures/board.hpp"
#include "fixtures/dump.hpp"
#include "parallel_impl/comm/pending_calls.hpp"
#include "parallel_impl/comm/world_state.hpp"
#include "parallel_impl/recorder.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/load_case.hpp"

namespace meshparity {

/// What a rank does with its context: train(), or a stand-in in tests.
using RankBody = std::function<void(const RankContext&)>;

struct RankEvidence {
  DumpHeader header;
  Recorder recorder;
  Ledgers ledgers;
};

/// "dp0 tp1" for each rank of the case.
std::vector<std::string> rank_coordinates(const LoadedCase& loaded);
/// When the data of this case's operations move.
Completion completion_of(const LoadedCase& loaded);
RankEvidence empty_evidence(const LoadedCase& loaded, int rank);

/// Runs `body` as the rank that `comm` is, its line on the board kept; faults of the case are
/// planted. Throws what the body throws.
void run_rank(const LoadedCase& loaded, const RankBody& body, Comm& comm, BoardWriter& board,
              RankEvidence& evidence);

/// What a case failed of whose messages were not all taken; no rank is to blame for it.
RankFailure messages_left_over(std::uint64_t count);

/// Writes the rank's file, rank_0000.h5 or so, into the job's folder.
void write_rank(const Job& job, const RankEvidence& evidence);

}  // namespace meshparity
