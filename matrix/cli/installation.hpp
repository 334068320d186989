// Where this program's own things lie: the two programs beside it, and the sources' data folders.
#pragma once
#include <filesystem>
#include <string>

#include "matrix/run_matrix.hpp"

namespace meshparity {

/// The tree that this program was built from: model specs, suites, and the commit.
std::filesystem::path source_folder();
/// This program's own file.
std::filesystem::path this_program();
/// The compiler that built this program.
std::string compiler();
/// meshparity-reference and meshparity-worker beside this executable.
Programs programs_beside();
/// Seconds for a board on which nothing moves. The worker ends a wait of five by itself and names
/// the rank; the driver steps in where it does not. Sanitizers are some ten times slower.
double default_time_limit();

}  // namespace meshparity
