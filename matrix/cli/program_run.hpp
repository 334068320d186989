// For tests: a program run to its end, with what it said.
#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "matrix/launch.hpp"

namespace meshparity {

struct ProgramRun {
  int exit = -1;
  std::string out;
  std::string err;
};

/// words[0] is the program's path; standard error goes to `log`. One that says nothing for two
/// minutes is killed.
inline ProgramRun run_to_end(const std::vector<std::string>& words,
                             const std::filesystem::path& log) {
  Launch launch(words, log);
  ProgramRun ran;
  std::string line;
  Launch::Read read = Launch::Read::line;
  while ((read = launch.read_line(line, std::chrono::seconds(120))) == Launch::Read::line) {
    ran.out += line + "\n";
  }
  if (read == Launch::Read::nothing_yet) {
    launch.kill();
  }
  ran.exit = launch.wait().exit_code;
  std::ifstream err(log);
  ran.err.assign(std::istreambuf_iterator<char>(err), {});
  return ran;
}

}  // namespace meshparity
