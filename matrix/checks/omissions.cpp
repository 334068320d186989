#include "matrix/checks/omissions.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

/// "12 records, the first grad layer0.norm1.bias step 1"
std::string count_text(const std::vector<RecordKey>& records) {
  if (records.size() == 1) {
    return record_text(records.front());
  }
  return fmt::format("{} records, the first {}", records.size(), record_text(records.front()));
}

Finding finding_of(const std::string& check, const std::string& text, const RecordKey& first) {
  Finding finding;
  finding.gravity = Verdict::inconclusive;
  finding.check = check;
  finding.record = first.record;
  finding.phase = first.phase;
  finding.step = first.step;
  finding.text = text;
  return finding;
}

}  // namespace

void Omissions::add(const std::string& check, Verdict gravity, const std::string& reason,
                    const RecordKey& record) {
  records_[{check, gravity, reason}].push_back(record);
}

void Omissions::report(CheckResult& result) const {
  for (const auto& [reason, records] : records_) {
    if (reason.check != result.check) {
      continue;
    }
    const std::string text = fmt::format("{}: {}", reason.text, count_text(records));
    if (reason.gravity == Verdict::conforms) {
      result.notes.push_back(text);
    } else {
      result.findings.push_back(finding_of(reason.check, text, records.front()));
    }
  }
}

}  // namespace meshparity
