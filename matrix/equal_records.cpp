#include "matrix/equal_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "fixtures/error.hpp"
#include "matrix/checks/value_place.hpp"
#include "matrix/equal_pieces.hpp"

namespace meshparity {
namespace {

Finding finding_of(const RecordKey& key, const HeldPiece& held) {
  Finding finding;
  finding.check = "equal";
  finding.record = key.record;
  finding.phase = key.phase;
  finding.step = key.step;
  finding.order = held.piece->order;
  finding.mb = held.piece->mb;
  return finding;
}

Finding missing_finding(const RecordKey& key, const HeldPiece& held, const char* side) {
  Finding finding = finding_of(key, held);
  finding.text = fmt::format("only the {} holds this record", side);
  return finding;
}

Finding difference_finding(const RecordKey& key, const RecordDifference& found) {
  Finding finding = finding_of(key, found.where);
  finding.rank = found.where.rank;
  finding.index = found.index;
  finding.piece_index = {found.place};
  add_values(finding, found.equality.first_left, found.equality.first_right, kDoubleMantissa);
  finding.ratio = std::numeric_limits<double>::infinity();
  finding.text = fmt::format(
      "{} of {} elements differ, the first at {}: {} against {}; largest difference {:.3g}",
      found.equality.different, found.equality.compared, index_text(found.index),
      found.equality.first_left, found.equality.first_right, found.equality.largest);
  finding.derivation = "equality of every element";
  return finding;
}

auto execution_order(const Finding& finding) {
  return std::make_tuple(finding.step, finding.order, finding.mb, finding.rank);
}

class DumpEquality {
 public:
  DumpEquality(const DumpSet& left, const DumpSet& right, const RecordChoice& chosen)
      : left_(left),
        right_(right),
        chosen_(chosen),
        same_level_(left.header().level == right.header().level) {
    result_.check = "equal";
  }

  CheckResult run() {
    for (const auto& [key, pieces] : left_.records()) {
      if (!chosen_(key)) {
        continue;
      }
      if (right_.pieces(key).empty()) {
        add_missing(missing_finding(key, pieces.front(), "reference"));
      } else {
        compare(key, pieces);
      }
    }
    for (const auto& [key, pieces] : right_.records()) {
      if (left_.pieces(key).empty() && chosen_(key)) {
        add_missing(missing_finding(key, pieces.front(), "candidate"));
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  /// Dumps of unlike levels are compared in what both hold.
  void add_missing(Finding finding) {
    if (same_level_) {
      result_.findings.push_back(std::move(finding));
    } else {
      ++one_sided_;
    }
  }

  void compare(const RecordKey& key, const std::vector<HeldPiece>& pieces) {
    const RecordDifference found = compare_record({left_, right_, key}, pieces);
    result_.compared += found.equality.compared;
    signed_zeros_ += found.equality.signed_zeros;
    if (!found.problem.empty()) {
      Finding finding = finding_of(key, pieces.front());
      finding.text = found.problem;
      result_.findings.push_back(std::move(finding));
    } else if (found.equality.different > 0) {
      result_.findings.push_back(difference_finding(key, found));
    }
  }

  void finish() {
    auto& findings = result_.findings;
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
      return execution_order(a) < execution_order(b);
    });
    if (findings.size() > kListedDifferences) {
      result_.notes.push_back(
          fmt::format("{} more records differ", findings.size() - kListedDifferences));
      findings.resize(kListedDifferences);
    }
    if (signed_zeros_ > 0) {
      result_.notes.push_back(
          fmt::format("{} elements are -0 on one side and +0 on the other: equal", signed_zeros_));
    }
    if (one_sided_ > 0) {
      result_.notes.push_back(fmt::format(
          "not compared: {} records that only one of the two levels holds", one_sided_));
    }
    result_.evidence = result_.compared > 0 || !findings.empty();
    result_.verdict = findings.empty() ? Verdict::conforms : Verdict::diverges;
  }

  const DumpSet& left_;
  const DumpSet& right_;
  const RecordChoice& chosen_;
  bool same_level_;
  CheckResult result_;
  std::int64_t signed_zeros_ = 0;
  std::int64_t one_sided_ = 0;
};

}  // namespace

CheckResult check_equal_dumps(const DumpSet& left, const DumpSet& right,
                              const RecordChoice& chosen) {
  return DumpEquality(left, right, chosen).run();
}

}  // namespace meshparity
