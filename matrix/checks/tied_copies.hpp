// A weight that embedding and head share is two records of one value (contracts.md §3): where two
// stages of a pipeline keep a copy each, only the same update keeps them equal.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

class TiedCopies {
 public:
  /// Values of a record, whole. A finding in `result` ("replicas") at the first element where the
  /// head's parameter, master or moment has other bits than the embedding's of the same step.
  void compare(const JudgeContext& context, const RecordEvidence& record,
               const std::vector<double>& values, CheckResult& result);

 private:
  std::map<std::pair<int, Phase>, std::vector<double>> embedding_;
};

}  // namespace meshparity
