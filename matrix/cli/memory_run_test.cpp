// The real programs: what the worker's allocator counts is what the formula asks for, on threads
// and in processes of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

/// The check `memory` of one case, as the report has it.
nlohmann::json memory_of_run(const std::string& id) {
  const ScratchFolder scratch;
  const std::string out = scratch / "out";
  Launch launch({MESHPARITY_PROGRAM, "run", id, "--out", out, "--cache", scratch / "cache"},
                scratch / "stderr");
  for (std::string line; launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line;) {
  }
  EXPECT_EQ(launch.wait().exit_code, 0);
  std::ifstream file(scratch.path() / "out" / id / "report.json");
  const nlohmann::json report = nlohmann::json::parse(file);
  for (const nlohmann::json& check : report.at("checks")) {
    if (check.at("check") == "memory") {
      return check;
    }
  }
  return nullptr;
}

// Four ranks, five tags, at the end and at the peak.
TEST(MemoryRun, CountsWhatWasDueOnEveryRank) {
  for (const char* machine : {"host-threads", "host-procs"}) {
    const nlohmann::json check = memory_of_run(
        std::string("gpt-micro.dp2-tp2.sp-mb2-momentum-drop0-steps1.fp32.") + machine);

    EXPECT_EQ(check.at("verdict"), "conforms") << check.dump();
    EXPECT_EQ(check.at("evidence"), true);
    EXPECT_EQ(check.at("compared"), 4 * 5 * 2);
  }
}

}  // namespace
}  // namespace meshparity
