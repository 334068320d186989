// Ranks as threads: one thread a rank, joined before anything is returned.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parallel_impl/comm/thread_world.hpp"

namespace meshparity {

/// Runs `body(rank)` for every rank of the world at once. A rank that throws poisons the world, so
/// its peers end too; the world's first_failure() then tells the cause. Returns what each rank
/// threw, an empty text for a rank that returned.
std::vector<std::string> run_rank_threads(ThreadWorld& world, const std::function<void(int)>& body);

}  // namespace meshparity
