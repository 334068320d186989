// SwiGLU: y = silu(gate) up, silu(g) = g sigma(g), sigma(g) = 1 / (1 + exp(-g)).
#pragma once
#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// What backward needs of forward.
struct SwigluTrace {
  Matrix sigmoid;  // sigma(gate)
  Matrix silu;
};

/// The two projections of one input, or their gradients.
template <class Values>
struct GateAndUp {
  Values& gate;
  Values& up;
};

void swiglu(GateAndUp<const Matrix> in, Rounding& rounding, SwigluTrace& trace, Matrix& y);
/// dup = dy silu(g), dgate = dy up sigma (1 + g (1 - sigma))
void swiglu_backward(GateAndUp<const Matrix> in, const SwigluTrace& trace, const Matrix& dy,
                     Rounding& rounding, GateAndUp<Matrix> gradients);

}  // namespace meshparity::reference
