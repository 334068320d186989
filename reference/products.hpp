// The product of two matrices as a run forms it.
#pragma once
#include "reference/float_sums.hpp"
#include "reference/rounding.hpp"

namespace meshparity::reference {

/// y = left right: in FP64, or in float in a run that rounds.
template <class Left, class Right, class Out>
void multiply_into(const Left& left, const Right& right, const Rounding& rounding, Out&& y) {
  if (rounding.in_float()) {
    y = float_product(left.template cast<float>(), right.template cast<float>(),
                      rounding.sum_order())
            .template cast<double>();
  } else {
    y.noalias() = left * right;
  }
}

}  // namespace meshparity::reference
