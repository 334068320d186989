#include "matrix/this_machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "fixtures/error.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

struct GitAnswer {
  bool good = false;
  std::string first_line;
};

GitAnswer ask_git(const std::filesystem::path& sources, std::vector<std::string> words) {
  std::vector<std::string> command = {"/usr/bin/git", "-C", sources.string()};
  command.insert(command.end(), words.begin(), words.end());
  try {
    Launch git(command, "/dev/null");
    GitAnswer answer;
    std::string line;
    for (Launch::Read read = git.read_line(line, std::chrono::seconds(20));
         read == Launch::Read::line; read = git.read_line(line, std::chrono::seconds(20))) {
      answer.first_line = answer.first_line.empty() ? line : answer.first_line;
    }
    answer.good = git.wait().clean();
    return answer;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

int core_count() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string program_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code none;
    if (std::filesystem::is_regular_file(std::filesystem::path(folder) / name, none)) {
      return std::filesystem::path(folder) / name;
    }
  }
  return "";
}

std::string tree_state(const std::filesystem::path& sources) {
  const GitAnswer commit = ask_git(sources, {"rev-parse", "HEAD"});
  const GitAnswer changes = ask_git(sources, {"status", "--porcelain", "--untracked-files=no"});
  if (!commit.good || !changes.good) {
    return "no git";
  }
  return fmt::format("{} {}", commit.first_line, changes.first_line.empty() ? "clean" : "changed");
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H-%M-%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

}  // namespace meshparity
