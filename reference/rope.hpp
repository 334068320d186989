// Rotary positions: elements (2i, 2i+1) of each head are a pair (a, b), turned by the angle
// t = (offset + p) base^(-2i/d): (a cos t - b sin t, a sin t + b cos t), p the token's place.
#pragma once
#include "fixtures/model_spec.hpp"
#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

class Rope {
 public:
  /// The angles of every position of a sample.
  explicit Rope(const ModelSpec& model);

  /// values [S, heads*d]
  void turn(Rounding& rounding, Matrix& values) const { turn_by(sines_, rounding, values); }
  /// The transposed map: by -t.
  void turn_back(Rounding& rounding, Matrix& values) const { turn_by(-sines_, rounding, values); }

 private:
  void turn_by(const Matrix& sines, Rounding& rounding, Matrix& values) const;

  Matrix cosines_;  // [S, d], each twice: of the pair's a and b
  Matrix sines_;    // [S, d], negative for a, positive for b
};

}  // namespace meshparity::reference
