// What gradcomm_bf16 adds to the noise of a lane: a set of companions of its own, beside the lane's
// (bounds.md §3.1: sets of different classes add in quadrature).
#pragma once
#include <filesystem>

#include "fixtures/companions.hpp"

namespace meshparity {

/// Where it lies: beside the file of the lane's own companions.
std::filesystem::path payload_companions(const std::filesystem::path& own);

/// The noise of both, in the units of `own`: sigma = factor sqrt(s2). Independent errors: variances
/// add, and so do the squares of the inner products that n_eff is made of. Throws Error when the
/// two are not of one shape and number of runs.
Companion with_payload(Companion own, const Companion& payload, double factor);

}  // namespace meshparity
