#include "matrix/checks/life_signs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace meshparity {
namespace {

Finding dead_finding(const char* check, int step, std::string text) {
  Finding finding;
  finding.gravity = Verdict::inconclusive;
  finding.check = check;
  finding.step = step;
  finding.text = std::move(text);
  return finding;
}

}  // namespace

void LifeSigns::note(const RecordRow& row, const std::vector<double>& reference) {
  if (row.record.phase == Phase::grad) {
    const bool zero =
        std::all_of(reference.begin(), reference.end(), [](double value) { return value == 0; });
    Gradients& step = gradients_[row.step];
    if (zero) {
      step.zero.push_back(row.record.name);
    } else {
      step.alive = true;
    }
  }
  if (row.record.phase == Phase::scalar && row.record.name == "token_count" &&
      reference == std::vector<double>{0}) {
    without_tokens_.insert(row.step);
  }
  if (row.record.phase == Phase::loss && row.record.name == "loss" && reference.size() == 1) {
    losses_[row.step] = reference.front();
  }
}

void LifeSigns::report_gradients(CheckResult& grad) const {
  const bool runs = std::any_of(gradients_.begin(), gradients_.end(),
                                [](const auto& entry) { return entry.second.alive; });
  for (const auto& [step, found] : gradients_) {
    const bool may_rest = runs && without_tokens_.contains(step);
    if (!found.alive && !may_rest) {
      grad.findings.push_back(
          dead_finding("grad", step,
                       fmt::format("dead run: every gradient of the reference is zero: {}",
                                   fmt::join(found.zero, ", "))));
    }
  }
}

void LifeSigns::report_loss(CheckResult& loss) const {
  if (losses_.size() < 2) {
    return;
  }
  const double first = losses_.begin()->second;
  const bool still = std::all_of(losses_.begin(), losses_.end(),
                                 [&](const auto& entry) { return entry.second == first; });
  if (still) {
    loss.findings.push_back(
        dead_finding("loss", losses_.begin()->first,
                     fmt::format("dead run: the reference's loss is {:.6g} in all {} steps (loss)",
                                 first, losses_.size())));
  }
}

}  // namespace meshparity
