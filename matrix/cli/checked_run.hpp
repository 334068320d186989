// For tests: one case through the real programs, and what one check said of it.
#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {

/// The check of that name, as the report has it; the run of `program` conforms.
inline nlohmann::json check_of_run(const std::string& program, const std::string& id,
                                   const std::string& name) {
  const ScratchFolder scratch;
  const std::string out = scratch / "out";
  Launch launch({program, "run", id, "--out", out, "--cache", scratch / "cache"},
                scratch / "stderr");
  for (std::string line; launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line;) {
  }
  EXPECT_EQ(launch.wait().exit_code, 0);
  std::ifstream file(scratch.path() / "out" / id / "report.json");
  const nlohmann::json report = nlohmann::json::parse(file);
  for (const nlohmann::json& check : report.at("checks")) {
    if (check.at("check") == name) {
      return check;
    }
  }
  return nullptr;
}

}  // namespace meshparity
