#include "parallel_impl/worker/build_facts.hpp"

#include <fstream>

namespace meshparity {

std::string build_text() {
  return "g++ " __VERSION__ " " MESHPARITY_BUILD_FLAGS;
}

std::string cpu_name() {
  std::ifstream lines("/proc/cpuinfo");
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string determinism_text() {
  return "canonical sums, fixed products, no contraction";
}

}  // namespace meshparity
