// The laws that move one parameter: AdamW (form A of algorithms.md §8.7), SGD, SGD with momentum.
// Gradients come in clipped.
#pragma once
#include <cstdint>

#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

struct AdamwNumbers {
  double learning_rate = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double weight_decay = 0;  // 0 where the parameter does not decay
};

struct AdamwParameter {
  Matrix& value;
  Matrix& moment1;
  Matrix& moment2;
};

/// m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; m^ = m/(1-b1^t); v^ = v/(1-b2^t);
/// theta -= lr wd theta; theta -= lr m^ / (sqrt(v^) + eps). `t` counts steps from 1.
/// Exact only: noisy runs of AdamW restart from the exact state after each step.
void adamw(const AdamwNumbers& numbers, std::int64_t t, const Matrix& gradient,
           const AdamwParameter& parameter);

/// theta -= lr g
void sgd(double learning_rate, const Matrix& gradient, Rounding& rounding, Matrix& value);

/// m = mu m + g; theta -= lr m
struct MomentumNumbers {
  double learning_rate = 0;
  double momentum = 0;
};
void momentum_sgd(const MomentumNumbers& numbers, const Matrix& gradient, Rounding& rounding,
                  Matrix& moment, Matrix& value);

}  // namespace meshparity::reference
