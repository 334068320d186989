// What a candidate left behind, put together from the pieces of all ranks: from it the reference
// restarts, and it is asked for laws (contracts.md §5).
#pragma once
#include <filesystem>

#include "fixtures/case_spec.hpp"
#include "matrix/dump_set.hpp"

namespace meshparity {

/// Writes a dump of one rank with, step by step, parameters, masters, moments, gradients, losses,
/// scalars and the step count. A record of the reference's table that the first copy does not hold
/// exactly once, or that cannot be read, is left out: what depends on it stays undecided.
void write_state(const CaseSpec& spec, const DumpSet& reference, const DumpSet& candidate,
                 const std::filesystem::path& file);

}  // namespace meshparity
