#include "reference/swiglu.hpp"

namespace meshparity::reference {

void swiglu(GateAndUp<const Matrix> in, Rounding& rounding, SwigluTrace& trace, Matrix& y) {
  trace.sigmoid = (-in.gate.array()).exp();
  rounding.elementwise(trace.sigmoid);
  trace.sigmoid.array() += 1;
  rounding.elementwise(trace.sigmoid);
  trace.sigmoid = trace.sigmoid.cwiseInverse();
  rounding.elementwise(trace.sigmoid);
  trace.silu = in.gate.cwiseProduct(trace.sigmoid);
  rounding.elementwise(trace.silu);
  y = trace.silu.cwiseProduct(in.up);
  rounding.elementwise(y);
}

void swiglu_backward(GateAndUp<const Matrix> in, const SwigluTrace& trace, const Matrix& dy,
                     Rounding& rounding, GateAndUp<Matrix> gradients) {
  gradients.up = dy.cwiseProduct(trace.silu);
  rounding.elementwise(gradients.up);

  Matrix& slope = gradients.gate;  // sigma (1 + g (1 - sigma))
  slope = 1 - trace.sigmoid.array();
  rounding.elementwise(slope);
  slope.array() *= in.gate.array();
  rounding.elementwise(slope);
  slope.array() += 1;
  rounding.elementwise(slope);
  slope.array() *= trace.sigmoid.array();
  rounding.elementwise(slope);
  slope.array() *= dy.array() * in.up.array();
  rounding.elementwise(slope, 2);
}

}  // namespace meshparity::reference
