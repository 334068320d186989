#include "matrix/cli/exit_code.hpp"

#include "reports/finding_text.hpp"

namespace meshparity {

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::conforms:
      return kExitConforms;
    case Verdict::diverges:
      return kExitDiverges;
    case Verdict::inconclusive:
      break;
  }
  return kExitInconclusive;
}

int exit_code(const std::vector<CaseReport>& reports, bool asked_and_not_run) {
  const Tally counted = tally(reports);
  if (counted.diverge > 0) {
    return kExitDiverges;
  }
  const bool all_conform = counted.inconclusive == 0 && counted.conform > 0;
  return all_conform && !asked_and_not_run ? kExitConforms : kExitInconclusive;
}

}  // namespace meshparity
