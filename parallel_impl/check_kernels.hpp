// Every kernel on a GPU beside its body on the host, in the calls that training makes: small cases
// whose ranks distrust the GPU (backend/cuda_checked_device.hpp).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "parallel_impl/backend/kernel_checks.hpp"

namespace meshparity {

/// Cases that reach every kernel between them, for both scalar types.
std::vector<std::string> cases_of_kernel_check();

/// Runs them all with models of this folder. Throws Error when a rank fails.
void check_kernels(const std::filesystem::path& models, const std::vector<std::string>& ids,
                   KernelChecks& checks);

}  // namespace meshparity
