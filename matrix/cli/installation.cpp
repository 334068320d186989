#include "matrix/cli/installation.hpp"

namespace meshparity {

std::filesystem::path source_folder() {
  return MESHPARITY_SOURCE_FOLDER;
}

std::string compiler() {
  return MESHPARITY_COMPILER;
}

std::filesystem::path this_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

Programs programs_beside() {
  const auto here = this_program().parent_path();
  return {here / "meshparity-reference", here / "meshparity-worker"};
}

double default_time_limit() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 80;
#else
  return 8;
#endif
}

}  // namespace meshparity
