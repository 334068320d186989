#include "matrix/judge_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "fixtures/companions.hpp"
#include "fixtures/error.hpp"
#include "matrix/checks/axis_took_effect.hpp"
#include "matrix/checks/collectives.hpp"
#include "matrix/checks/coverage.hpp"
#include "matrix/checks/equality.hpp"
#include "matrix/checks/life_signs.hpp"
#include "matrix/checks/memory.hpp"
#include "matrix/checks/owners.hpp"
#include "matrix/checks/padding.hpp"
#include "matrix/checks/replicas.hpp"
#include "matrix/checks/schedule.hpp"
#include "matrix/checks/tied_copies.hpp"
#include "matrix/judge_values.hpp"
#include "matrix/payload_noise.hpp"
#include "matrix/rebased_reference.hpp"

namespace meshparity {
namespace {

/// Every record that exists, in the order of execution, step by step.
std::vector<RecordRow> rows_of(const DumpSet& reference, Level level) {
  const DumpHeader& header = reference.header();
  if (header.level < level) {
    throw UsageError(fmt::format("the reference's dump is of level {}, the case asks for {}",
                                 level_name(header.level), level_name(level)));
  }
  std::vector<RecordRow> rows = reference.readers().begin()->second.records();
  if (rows.empty()) {
    throw UsageError(
        "the reference's dump has no /records: it is a candidate's; --exact compares "
        "two candidates");
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RecordRow& a, const RecordRow& b) {
    return std::pair(a.step, a.record.order) < std::pair(b.step, b.record.order);
  });
  return rows;
}

void require_case(const RebasedReference& rebased, const std::string& id) {
  if (rebased.case_id() != id) {
    throw UsageError(
        fmt::format("the rebased reference is of {}, the candidate of {}", rebased.case_id(), id));
  }
}

class RecordJudge {
 public:
  RecordJudge(const JudgeContext& context, std::vector<RecordRow> rows)
      : context_(context), known_(std::move(rows)), values_(context, omissions_) {
    std::copy_if(known_.begin(), known_.end(), std::back_inserter(rows_),
                 [&](const RecordRow& row) { return row.record.level <= context.evidence.level; });
    for (const std::string_view name : kCheckNames) {
      if (name != "liveness") {
        results_.emplace_back().check = name;
      }
    }
  }

  std::vector<CheckResult> run() {
    check_axes(context_, rows_, at("axis_took_effect"));
    check_files(context_, at("coverage"));
    check_padding(context_, at("coverage"));
    for (const RecordRow& row : rows_) {
      judge(gather(context_, row, mask_of(row)));
    }
    check_unknown(context_, known_, at("coverage"));
    life_.report_gradients(at("grad"));
    life_.report_loss(at("loss"));
    check_collectives(context_, at("collectives"));
    check_memory(context_, at("memory"));
    check_schedule(context_, at("schedule"));
    finish();
    return std::move(results_);
  }

 private:
  CheckResult& at(const std::string& name) {
    return *std::find_if(results_.begin(), results_.end(),
                         [&](const CheckResult& result) { return result.check == name; });
  }

  std::vector<std::uint8_t> mask_of(const RecordRow& row) const {
    const std::string name = row.record.name + ".mask";
    for (const RecordRow& other : rows_) {
      if (other.record.name == name && other.record.phase == row.record.phase &&
          other.step == row.step) {
        const std::vector<std::int64_t> bits = reference_integers(context_.reference, other);
        return {bits.begin(), bits.end()};
      }
    }
    return {};
  }

  /// Of a foreign candidate, which may leave out what is not required.
  bool is_left_out(const RecordEvidence& record) {
    const auto& readers = context_.candidate.readers();
    if (readers.empty() || !readers.begin()->second.header().foreign ||
        !context_.candidate.pieces(record.key()).empty()) {
      return false;
    }
    const bool required = is_required(record.row.record);
    omissions_.add(check_of(record.row.record),
                   required ? Verdict::inconclusive : Verdict::conforms,
                   required ? "the foreign candidate lacks a required record"
                            : "not compared: the foreign candidate did not write it",
                   record.key());
    return true;
  }

  void judge(RecordEvidence record) {
    record.basis = values_.is_rebased(record.row) ? Basis::own_state : Basis::reference;
    if (is_left_out(record) || !check_coverage(context_, record, at("coverage"))) {
      return;
    }
    check_owners(context_, record, at("coverage"));
    try {
      if (record.is_integer()) {
        const auto values = check_integer_replicas(context_, record, at("replicas"));
        check_equal_integers(context_, record, values, at(check_of(record.row.record)));
      } else {
        std::vector<double> values = check_replicas(context_, record, at("replicas"));
        tied_.compare(context_, record, values, at("replicas"));
        judge_values(record, std::move(values));
      }
    } catch (const UsageError&) {
      throw;  // the reference's
    } catch (const Error& error) {
      add_unreadable(record, error);
    }
  }

  void add_unreadable(const RecordEvidence& record, const Error& error) {
    Finding finding = finding_about(record, "coverage");
    finding.text = error.what();
    at("coverage").findings.push_back(std::move(finding));
  }

  void judge_values(const RecordEvidence& record, std::vector<double> candidate) {
    const RecordValues values{values_.expected(record.row), std::move(candidate)};
    life_.note(record.row, values.reference);
    values_.judge(record, values, at(check_of(record.row.record)));
  }

  void finish() {
    bool compared = false;
    for (CheckResult& result : results_) {
      omissions_.report(result);
      result.evidence = result.compared > 0 || !result.findings.empty();
      compared = compared || (result.evidence && is_comparison(result));
      if (!result.evidence && result.notes.empty()) {
        result.notes.push_back("nothing to look at in this case");
      }
    }
    CheckResult& coverage = at("coverage");
    if (!compared && coverage.findings.empty()) {
      coverage.findings.push_back(nothing_compared());
    }
    for (CheckResult& result : results_) {
      result.verdict = verdict_of(result);
    }
  }

  static bool is_comparison(const CheckResult& result) {
    return result.check != "axis_took_effect" && result.check != "coverage" &&
           result.check != "replicas" && result.check != "collectives" &&
           result.check != "memory" && result.check != "schedule";
  }

  static Finding nothing_compared() {
    Finding finding;
    finding.gravity = Verdict::inconclusive;
    finding.check = "coverage";
    finding.text = "no value of any record was compared with the reference";
    return finding;
  }

  const JudgeContext& context_;
  std::vector<RecordRow> known_;
  std::vector<RecordRow> rows_;  // those that the level asks for
  std::vector<CheckResult> results_;
  TiedCopies tied_;
  Omissions omissions_;
  ValueJudge values_;
  LifeSigns life_;
};

}  // namespace

Verdict verdict_of(const CheckResult& result) {
  Verdict verdict = Verdict::conforms;
  for (const Finding& finding : result.findings) {
    verdict = std::max(verdict, finding.gravity);
  }
  return verdict;
}

std::vector<CheckResult> judge_records(const Evidence& evidence, const DumpSet& reference,
                                       const DumpSet& candidate) {
  std::optional<CompanionReader> companions;
  if (!evidence.companions.empty()) {
    companions.emplace(evidence.companions);
  }
  std::optional<CompanionReader> payload;
  if (companions && evidence.spec.gradcomm_bf16 &&
      std::filesystem::exists(payload_companions(evidence.companions))) {
    payload.emplace(payload_companions(evidence.companions));
  }
  std::optional<RebasedReference> rebased;
  if (!evidence.rebased.empty()) {
    rebased.emplace(evidence.rebased);
    require_case(*rebased, format_case(evidence.spec));
  }
  const JudgeContext context{evidence,
                             reference,
                             candidate,
                             companions ? &*companions : nullptr,
                             lane_of(evidence.spec.precision),
                             rebased ? &*rebased : nullptr,
                             payload ? &*payload : nullptr};
  return RecordJudge(context, rows_of(reference, evidence.level)).run();
}

}  // namespace meshparity
