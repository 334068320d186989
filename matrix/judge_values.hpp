// What a record's values are compared with: the reference, a step of it that began with the
// candidate's own state, the laws of the candidate's own step; and what is said where that cannot
// be.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "matrix/checks/omissions.hpp"
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

class ValueJudge {
 public:
  /// Both outlive this.
  ValueJudge(const JudgeContext& context, Omissions& omissions)
      : context_(context), omissions_(omissions) {}

  /// Free-running AdamW trajectories may not be compared by tolerance (bounds.md §3.5): each step
  /// after the first is compared with one that began with the candidate's own state.
  bool is_rebased(const RecordRow& row) const;
  /// The values to compare with: of the rebased step where that is due and there, else the
  /// reference's. Throws UsageError when a dump does not hold them once.
  std::vector<double> expected(const RecordRow& row) const;
  /// Compares the candidate's values, laid out over the record, as far as they can be.
  void judge(const RecordEvidence& record, const RecordValues& values, CheckResult& result);

 private:
  bool has_rebased_step(const RecordRow& row) const;
  bool is_left_to_laws(const RecordRow& row) const;
  bool is_under_law(const RecordRow& row) const;
  std::optional<std::string> why_no_limits(const RecordEvidence& record) const;
  void judge_noise(const RecordEvidence& record, const RecordValues& values, CheckResult& result);
  void judge_laws(const RecordEvidence& record, const std::vector<double>& candidate,
                  CheckResult& result);
  void leave_out(const CheckResult& result, Verdict gravity, const std::string& reason,
                 const RecordEvidence& record);
  void leave_out_without_rebasing(const CheckResult& result, const RecordEvidence& record);

  const JudgeContext& context_;
  Omissions& omissions_;
};

}  // namespace meshparity
