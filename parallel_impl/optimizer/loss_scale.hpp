// The loss scale of a step and how it moves (fixtures/loss_scaling.hpp); without `lscale` it is 1.
#pragma once
#include "fixtures/loss_scaling.hpp"

namespace meshparity {

class LossScale {
 public:
  explicit LossScale(const CaseSpec& spec) : moves_(spec.loss_scaling) {
    scale_ = moves_ ? kFirstLossScale : 1;
  }

  bool is_used() const { return moves_; }
  double value() const { return scale_; }
  void after(bool skipped) {
    if (!moves_) {
      return;
    }
    good_steps_ = skipped ? 0 : good_steps_ + 1;
    if (skipped) {
      scale_ /= 2;
    } else if (good_steps_ == kGoodSteps) {
      scale_ *= 2;
      good_steps_ = 0;
    }
  }

 private:
  bool moves_;
  double scale_ = 1;
  int good_steps_ = 0;  // in a row since the scale last moved
};

}  // namespace meshparity
