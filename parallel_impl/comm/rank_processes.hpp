// Ranks as processes: one forked process a rank, reaped before anything is returned.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parallel_impl/comm/process_world.hpp"

namespace meshparity {

/// Runs `body(rank)` for every rank of the world at once, each in a process of its own; the caller
/// has no other thread. A rank that throws poisons the world; one that is killed is found dead here
/// and poisons it too, named with its signal; one that still stands two seconds after a failure is
/// killed. Returns what each rank threw or how it died, an empty text for a rank that returned.
std::vector<std::string> run_rank_processes(ProcessWorld& world,
                                            const std::function<void(int)>& body);

}  // namespace meshparity
