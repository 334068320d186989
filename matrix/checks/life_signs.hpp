// Is the run alive at all? A reference whose gradients are all zero, or whose loss stands still,
// would agree with nearly anything (contracts.md §4).
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

class LifeSigns {
 public:
  /// Remembers what the reference's gradients, losses and token counts say.
  void note(const RecordRow& row, const std::vector<double>& reference);
  /// Adds an inconclusive finding to "grad" for a step without gradients, with the list of
  /// tensors, unless it had no token and others have gradients; and one to "loss" when several
  /// steps have the same loss.
  void report_gradients(CheckResult& grad) const;
  void report_loss(CheckResult& loss) const;

 private:
  struct Gradients {
    std::vector<std::string> zero;
    bool alive = false;
  };
  std::map<int, Gradients> gradients_;  // by step
  std::map<int, double> losses_;
  std::set<int> without_tokens_;
};

}  // namespace meshparity
