// One case whose ranks are processes: each computes its part and writes its own file.
#pragma once
#include <chrono>
#include <optional>

#include "parallel_impl/worker/run_rank.hpp"

namespace meshparity {

/// Runs `body` on every rank, with a progress board at <out>/board.bin; the files are complete when
/// this returns nothing. The caller has no other thread. A rank that throws or is killed is the
/// failure returned, and leaves a board and no files.
std::optional<RankFailure> run_forked_case(const LoadedCase& loaded, const RankBody& body,
                                           std::chrono::milliseconds time_limit);

}  // namespace meshparity
