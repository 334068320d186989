#include "matrix/checks/padding.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

bool is_padding(const std::string& path) {
  return path.starts_with("pad/") || path.find("/pad/") != std::string::npos;
}

/// False, with a finding, when a rank's buffer is not zero.
bool is_zero(const JudgeContext& context, int rank, const std::string& path, CheckResult& result) {
  const std::vector<double> values = context.candidate.readers().at(rank).read_local(path);
  const auto leak =
      std::find_if(values.begin(), values.end(), [](double value) { return !(value == 0); });
  if (leak == values.end()) {
    return true;
  }
  Finding& finding = result.findings.emplace_back();
  finding.check = "coverage";
  finding.rank = rank;
  finding.coordinate = expect::place_text(context.evidence.spec, rank);
  finding.text = fmt::format("padding {} of {} holds {} at element {}, not 0", path,
                             rank_text(context.evidence.spec, rank), *leak, leak - values.begin());
  return false;
}

}  // namespace

void check_padding(const JudgeContext& context, CheckResult& result) {
  for (const auto& [rank, reader] : context.candidate.readers()) {
    for (const std::string& path : reader.local_paths()) {
      if (is_padding(path) && !is_zero(context, rank, path, result)) {
        return;
      }
    }
  }
}

}  // namespace meshparity
