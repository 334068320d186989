// What this machine and this tree are, as runs write it down.
#pragma once
#include <filesystem>
#include <string>

namespace meshparity {

/// "Intel(R) Xeon(R) ...", as the kernel tells it; "unknown" when it does not.
std::string cpu_model();
int core_count();
/// Where the program lies that a shell would start; empty when there is none.
std::string program_on_path(const std::string& name);
/// Commit and tree state of the sources: "3301933... clean", "3301933... changed", or "no git".
std::string tree_state(const std::filesystem::path& sources);
/// "2026-11-29T18-30-12Z": fits a folder's name.
std::string utc_now();

}  // namespace meshparity
