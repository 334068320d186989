#include "reports/result_store.hpp"

#include <fmt/format.h>

#include <sstream>

#include "fixtures/error.hpp"
#include "reports/report_json.hpp"

namespace meshparity {

ResultStore::ResultStore(std::filesystem::path file) : file_(std::move(file)) {
  out_.open(file_, std::ios::app | std::ios::binary);
  if (!out_) {
    throw Error(fmt::format("opening the result store {}", file_.string()));
  }
}

void ResultStore::append(const CaseReport& report) {
  out_ << format_report(report) << '\n';
  if (!out_.flush()) {
    throw Error(fmt::format("writing the result of {} to {}", report.case_id, file_.string()));
  }
}

void replace_results(const std::filesystem::path& file, const std::vector<CaseReport>& reports) {
  const std::filesystem::path fresh = file.string() + ".new";
  std::filesystem::remove(fresh);
  {
    ResultStore store(fresh);
    for (const CaseReport& report : reports) {
      store.append(report);
    }
  }
  std::filesystem::rename(fresh, file);
}

std::vector<CaseReport> read_results(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw UsageError(fmt::format("{}: cannot be read", file.string()));
  }
  std::vector<CaseReport> reports;
  int number = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    ++number;
    try {
      reports.push_back(parse_report(line));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file.string(), number, error.what()));
    }
  }
  return reports;
}

void write_report(const std::filesystem::path& folder, const CaseReport& report) {
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "report.json", std::ios::binary);
  out << format_report_indented(report);
  if (!out.flush()) {
    throw Error(fmt::format("writing {}", (folder / "report.json").string()));
  }
}

}  // namespace meshparity
