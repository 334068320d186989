// What only a GPU can tell of training on it: how long a step takes, and how cuBLAS rounds.
#pragma once
#include <filesystem>
#include <string>

namespace meshparity {

/// Seconds of a step of this case's training on one GPU, host's part included: what all steps take
/// less what the first takes, over the others. Throws Error when it fails.
double step_seconds(const std::filesystem::path& models, const std::string& case_id, int steps);

/// How cuBLAS rounds an operand to TF32, which its documentation leaves open: "to nearest, ties
/// away from zero", "to nearest, ties to even", "towards zero", "not at all"; else the bits.
std::string tf32_rounding();

}  // namespace meshparity
