#include "matrix/distance.hpp"

#include <fmt/format.h>

#include <map>

#include "matrix/equal_pieces.hpp"

namespace meshparity {
namespace {

struct Farthest {
  double distance = -1;
  RecordKey key;
};

Finding not_comparable(const RecordKey& key) {
  Finding finding;
  finding.gravity = Verdict::inconclusive;
  finding.check = "distance";
  finding.record = key.record;
  finding.phase = key.phase;
  finding.step = key.step;
  finding.text = "a side does not hold the record exactly once, or the shapes differ";
  return finding;
}

}  // namespace

CheckResult measure_distance(const DumpSet& left, const DumpSet& right,
                             const RecordChoice& chosen) {
  CheckResult result;
  result.check = "distance";
  std::map<Phase, Farthest> farthest;
  for (const auto& [key, pieces] : left.records()) {
    if (!chosen(key) || right.pieces(key).empty() || is_integer(pieces.front().piece->type)) {
      continue;
    }
    const std::optional<double> distance = relative_distance({left, right, key}, pieces);
    if (!distance) {
      result.findings.push_back(not_comparable(key));
      continue;
    }
    ++result.compared;
    Farthest& most = farthest[key.phase];
    if (!(*distance <= most.distance)) {  // a NaN is the farthest
      most = {*distance, key};
    }
  }
  for (const auto& [phase, most] : farthest) {
    result.notes.push_back(fmt::format("{}: at most {:.2g} of the record, in {} step {}",
                                       phase_name(phase), most.distance, most.key.record,
                                       most.key.step));
  }
  result.evidence = result.compared > 0;
  result.verdict = result.findings.empty() ? Verdict::conforms : Verdict::inconclusive;
  return result;
}

}  // namespace meshparity
