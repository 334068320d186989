#include "fault_injection/planted_runs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "fixtures/dump.hpp"

namespace meshparity {

Outcome run_cases(const std::vector<std::string>& ids, const std::filesystem::path& out,
                  const std::string& options) {
  std::string command = fmt::format("{} run --cache {} --out {} --keep all --once",
                                    MESHPARITY_PROGRAM, MESHPARITY_CACHE, out.string());
  for (const std::string& id : ids) {
    command += " " + id;
  }
  command += " " + options + " > /dev/null";
  Outcome run;
  run.exit_code = WEXITSTATUS(std::system(command.c_str()));
  std::ifstream results(out / "results.jsonl");
  for (std::string line; std::getline(results, line);) {
    nlohmann::json report = nlohmann::json::parse(line);
    run.reports[report.at("case").get<std::string>()] = report;
  }
  return run;
}

nlohmann::json first_finding(const nlohmann::json& report) {
  for (const nlohmann::json& check : report.at("checks")) {
    if (!check.at("findings").empty()) {
      return check.at("findings").front();
    }
  }
  return nullptr;
}

double times_fired(const std::filesystem::path& dump) {
  double times = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dump)) {
    if (entry.path().extension() == ".h5") {
      for (const EventRow& event : DumpReader(entry.path()).ledgers().events) {
        times += event.value;
      }
    }
  }
  return times;
}

}  // namespace meshparity
