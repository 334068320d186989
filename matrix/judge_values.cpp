#include "matrix/judge_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fixtures/companions.hpp"
#include "matrix/checks/bounded.hpp"
#include "matrix/checks/equality.hpp"
#include "matrix/checks/laws.hpp"
#include "matrix/rebased_reference.hpp"

namespace meshparity {
namespace {

RecordKey key_of(const RecordRow& row) {
  return {row.step, row.record.phase, row.record.name};
}

/// Made from the data alone, so a different trajectory does not change it.
bool is_data_only(const RecordSpec& record) {
  return record.name == "token_count" || record.name == "lr" || record.name == "loss_scale" ||
         record.name == "found_inf";
}

bool is_updated(const RecordSpec& record) {
  return record.phase == Phase::param || record.phase == Phase::master ||
         record.phase == Phase::moment1 || record.phase == Phase::moment2;
}

}  // namespace

bool ValueJudge::is_rebased(const RecordRow& row) const {
  return context_.evidence.spec.optimizer == OptimizerKind::adamw && row.step > 0 &&
         !is_data_only(row.record) && !is_updated(row.record);
}

bool ValueJudge::is_left_to_laws(const RecordRow& row) const {
  return context_.evidence.spec.optimizer == OptimizerKind::adamw && is_updated(row.record);
}

/// The formulas are the reference's; which records they speak of is part of the level's contract.
bool ValueJudge::is_under_law(const RecordRow& row) const {
  const RecordSpec& record = row.record;
  const bool is_loss = record.phase == Phase::loss && record.name == "loss";
  const bool is_clip =
      record.phase == Phase::scalar && (record.name == "grad_norm" || record.name == "clip_coef");
  // Operations and sums over ranks: at level all, where their inputs are dumped.
  const bool is_detail = (record.phase == Phase::forward || record.phase == Phase::grad) &&
                         context_.rebased != nullptr &&
                         !context_.rebased->laws(key_of(row)).empty();
  return is_updated(record) || is_loss || is_clip || is_detail;
}

bool ValueJudge::has_rebased_step(const RecordRow& row) const {
  return context_.rebased != nullptr && context_.rebased->holds(key_of(row));
}

std::vector<double> ValueJudge::expected(const RecordRow& row) const {
  return is_rebased(row) && has_rebased_step(row) ? context_.rebased->values(row)
                                                  : reference_values(context_.reference, row);
}

void ValueJudge::judge(const RecordEvidence& record, const RecordValues& values,
                       CheckResult& result) {
  if (check_finite(context_, record, values, result)) {
    judge_noise(record, values, result);
  }
  const bool finite = std::all_of(values.candidate.begin(), values.candidate.end(),
                                  [](double value) { return std::isfinite(value); });
  if (finite && is_under_law(record.row)) {
    judge_laws(record, values.candidate, result);
  }
}

void ValueJudge::judge_noise(const RecordEvidence& record, const RecordValues& values,
                             CheckResult& result) {
  if (is_left_to_laws(record.row)) {
    return;
  }
  if (is_rebased(record.row) && context_.rebased == nullptr) {
    leave_out_without_rebasing(result, record);
  } else if (is_rebased(record.row) && !has_rebased_step(record.row)) {
    leave_out(result, Verdict::inconclusive,
              "the candidate's state after the step before is not whole, so this step of the "
              "reference could not begin with it",
              record);
  } else if (const auto reason = why_no_limits(record)) {
    const bool extra = context_.companions != nullptr && record.row.record.level == Level::all;
    leave_out(result, extra ? Verdict::conforms : Verdict::inconclusive, *reason, record);
  } else {
    check_bounded(context_, record, values, result);
  }
}

void ValueJudge::judge_laws(const RecordEvidence& record, const std::vector<double>& candidate,
                            CheckResult& result) {
  if (context_.evidence.level < Level::standard) {
    leave_out(result, Verdict::conforms, "laws are not asked at this level", record);
    return;
  }
  if (context_.rebased == nullptr) {
    leave_out_without_rebasing(result, record);
    return;
  }
  const std::vector<LawRow>& laws = context_.rebased->laws(record.key());
  if (laws.empty()) {
    leave_out(result, Verdict::inconclusive, "the rebased reference holds no law of it", record);
  }
  for (const LawRow& law : laws) {
    if (law.missing.empty()) {
      check_law(context_, record, law, candidate, result);
    } else {
      leave_out(result, Verdict::inconclusive,
                fmt::format("law {}: the candidate's dump lacks {}", law.law, law.missing), record);
    }
  }
}

void ValueJudge::leave_out(const CheckResult& result, Verdict gravity, const std::string& reason,
                           const RecordEvidence& record) {
  omissions_.add(result.check, gravity, reason, record.key());
}

void ValueJudge::leave_out_without_rebasing(const CheckResult& result,
                                            const RecordEvidence& record) {
  const Evidence& evidence = context_.evidence;
  leave_out(result, evidence.not_rebased_gravity,
            fmt::format("not compared with a rebased step or by a law: {}", evidence.not_rebased),
            record);
}

std::optional<std::string> ValueJudge::why_no_limits(const RecordEvidence& record) const {
  const RecordKey key = record.key();
  if (context_.companions == nullptr) {
    return "no limits: the reference has no companions";
  }
  if (context_.companions->lane() != context_.lane->companions) {
    return fmt::format("no limits: the companions are of lane {}, {} needs those of {}",
                       context_.companions->lane(), context_.lane->name, context_.lane->companions);
  }
  if (context_.evidence.spec.gradcomm_bf16 && context_.payload == nullptr) {
    return "no limits: the reference was made without the noise of gradients in bfloat16 "
           "(companions_gradcomm_bf16.h5)";
  }
  if (!context_.companions->has(key.step, key.phase, key.record)) {
    return "no limits: the companions lack it (they are made for level standard)";
  }
  return std::nullopt;
}

}  // namespace meshparity
