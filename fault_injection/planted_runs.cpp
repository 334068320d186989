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

std::string found_line(const std::string& fault, const std::string& id,
                       const nlohmann::json& report) {
  const nlohmann::json finding = first_finding(report);
  if (finding.is_null()) {
    return fmt::format("{:<32} {:<10} {:<34} {:<22} {:>9}  {}", fault, "conforms", "", "", "", id);
  }
  const auto record = finding.at("record").get<std::string>();
  const nlohmann::json& ratio = finding.at("ratio");
  const double over = ratio.is_number() ? ratio.get<double>() : 0;
  return fmt::format(
      "{:<32} {:<10} {:<34} {:<22} {:>9}  {}", fault, finding.at("check").get<std::string>(),
      record.empty() ? finding.at("text").get<std::string>().substr(0, 34) : record,
      fmt::format("rank {} step {}", finding.at("rank").get<int>(), finding.at("step").get<int>()),
      over > 0 ? fmt::format("{:.3g}", over) : "exact", id);
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
