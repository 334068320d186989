#include "matrix/checks/probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/error.hpp"
#include "matrix/checks/coverage.hpp"
#include "matrix/checks/owners.hpp"
#include "matrix/checks/padding.hpp"
#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity {
namespace {

constexpr const char* kCheck = "coverage";
constexpr std::int64_t kBase = 65536;

/// What elements of one record are due to show.
struct Due {
  int step = 0;
  int contributions = 1;
  double of(std::int64_t element) const { return contributions * shown_index(element, step); }
};

class ProbeCheck {
 public:
  ProbeCheck(const JudgeContext& context, CheckResult& result)
      : context_(context), spec_(context.evidence.spec), result_(result) {}

  void run() {
    const std::vector<RecordRow> rows = rows_due();
    check_files(context_, result_);
    check_padding(context_, result_);
    if (const auto why = why_not_told(rows)) {
      Finding& finding = result_.findings.emplace_back();
      finding.gravity = Verdict::inconclusive;
      finding.check = kCheck;
      finding.text = *why;
    }
    if (!expect::why_no_calls(spec_)) {
      for (const RecordRow& row : rows) {
        judge(row);
      }
    }
    check_unknown(context_, rows, result_);
  }

 private:
  std::vector<RecordRow> rows_due() const {
    std::vector<RecordRow> rows;
    for (int step = 0; step < spec_.steps; ++step) {
      for (const RecordSpec& record : record_table(context_.evidence.model, spec_)) {
        if (is_recorded(record, spec_, step) && record.level <= context_.evidence.level) {
          rows.push_back({record, step});
        }
      }
    }
    return rows;
  }

  /// As many steps as the largest tensor's indices have digits.
  std::optional<std::string> why_not_told(const std::vector<RecordRow>& rows) const {
    if (const auto why = expect::why_no_calls(spec_)) {
      return fmt::format("nothing is compared: {}", *why);
    }
    for (const RecordRow& row : rows) {
      int digits = 1;
      for (std::int64_t rest = (elements_of(row.record.shape) - 1) / kBase; rest > 0;
           rest /= kBase) {
        ++digits;
      }
      if (digits > spec_.steps) {
        return fmt::format(
            "the {} elements of {} have indices of {} digits in base {}, the case shows {}; ask "
            "for "
            "steps{}",
            elements_of(row.record.shape), row.record.name, digits, kBase, spec_.steps, digits);
      }
    }
    return std::nullopt;
  }

  /// One finding a record: the first rank's.
  void judge(const RecordRow& row) {
    const RecordEvidence record = gather(context_, row, {});
    if (!check_coverage(context_, record, result_) || !check_owners(context_, record, result_)) {
      return;
    }
    for (const PlacedPiece& placed : record.placed) {
      if (!judge_piece(record, placed)) {
        return;
      }
    }
  }

  bool judge_piece(const RecordEvidence& record, const PlacedPiece& placed) {
    const expect::Layout layout{spec_, context_.evidence.model};
    const std::vector<ParamSpec> params = param_table(layout.model);
    const auto param = std::find_if(params.begin(), params.end(), [&](const ParamSpec& each) {
      return each.name == record.row.record.name;
    });
    const expect::ParamPart part = expect::part_of(*param, layout, placed.rank);
    const bool is_sum = record.row.record.phase == Phase::grad;
    return shows(record, placed, {record.row.step, is_sum ? part.contributors : 1});
  }

  bool shows(const RecordEvidence& record, const PlacedPiece& placed, const Due& due) {
    std::vector<double> values;
    try {
      values = context_.candidate.readers().at(placed.rank).read(*placed.piece);
    } catch (const Error& error) {
      add(record, placed).text = error.what();
      return false;
    }
    std::int64_t place = 0;
    for (const Run& run : placed.runs) {
      for (std::int64_t i = 0; i < run.count; ++i, ++place) {
        const double held = values[static_cast<std::size_t>(place)];
        if (!(held == due.of(run.begin + i))) {
          add_value(record, placed, {run.begin + i, place, held}, due);
          return false;
        }
      }
    }
    return true;
  }

  struct Held {
    std::int64_t element = 0;
    std::int64_t place = 0;
    double value = 0;
  };
  void add_value(const RecordEvidence& record, const PlacedPiece& placed, const Held& held,
                 const Due& due) {
    Finding& finding = add(record, placed);
    finding.index = index_of(held.element, record.row.record.shape);
    finding.piece_index = {held.place};
    finding.has_values = true;
    finding.reference = due.of(held.element);
    finding.candidate = held.value;
    finding.derivation =
        fmt::format("element {} shows {} in step {}, times {} contributions", held.element,
                    shown_index(held.element, due.step), due.step, due.contributions);
    finding.text =
        fmt::format("{} is due at {}, {} holds {}{}", finding.reference, index_text(finding.index),
                    rank_text(spec_, placed.rank), held.value, guess(record, held, due));
  }

  /// What would explain the value: other contributions, or another element.
  std::string guess(const RecordEvidence& record, const Held& held, const Due& due) const {
    const double shown = shown_index(held.element, due.step);
    for (int times = 0; shown > 0 && times <= 4 * due.contributions; ++times) {
      if (times != due.contributions && held.value == times * shown) {
        return fmt::format(", as after {} contributions instead of {}", times, due.contributions);
      }
    }
    const double other = held.value / due.contributions;
    if (due.step == 0 && other >= 0 && other < static_cast<double>(record.elements()) &&
        other == static_cast<double>(static_cast<std::int64_t>(other))) {
      const Shape index = index_of(static_cast<std::int64_t>(other), record.row.record.shape);
      return fmt::format(", as is due at {}", index_text(index));
    }
    return "";
  }

  Finding& add(const RecordEvidence& record, const PlacedPiece& placed) {
    Finding& finding = result_.findings.emplace_back(finding_about(record, kCheck));
    finding.rank = placed.rank;
    finding.coordinate = expect::place_text(spec_, placed.rank);
    return finding;
  }

  const JudgeContext& context_;
  const CaseSpec& spec_;
  CheckResult& result_;
};

}  // namespace

double shown_index(std::int64_t index, int step) {
  std::int64_t digits = index;
  for (int i = 0; i < step; ++i) {
    digits /= kBase;
  }
  return static_cast<double>(digits % kBase);
}

void check_probe(const JudgeContext& context, CheckResult& result) {
  ProbeCheck(context, result).run();
}

}  // namespace meshparity
