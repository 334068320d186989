#include "reference/optimizer.hpp"

#include <cmath>

namespace meshparity::reference {

void adamw(const AdamwNumbers& numbers, std::int64_t t, const Matrix& gradient,
           const AdamwParameter& parameter) {
  const auto& [learning_rate, beta1, beta2, epsilon, weight_decay] = numbers;
  const auto g = gradient.array();
  auto m = parameter.moment1.array();
  auto v = parameter.moment2.array();
  auto theta = parameter.value.array();
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(t));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(t));

  m = beta1 * m + (1 - beta1) * g;
  v = beta2 * v + (1 - beta2) * g.square();
  theta -= learning_rate * weight_decay * theta;
  theta -= learning_rate * (m / correction1) / ((v / correction2).sqrt() + epsilon);
}

void sgd(double learning_rate, const Matrix& gradient, Rounding& rounding, Matrix& value) {
  Matrix step = learning_rate * gradient;
  rounding.elementwise(step);
  value -= step;
  rounding.elementwise(value);
}

void momentum_sgd(const MomentumNumbers& numbers, const Matrix& gradient, Rounding& rounding,
                  Matrix& moment, Matrix& value) {
  moment *= numbers.momentum;
  rounding.elementwise(moment);
  moment += gradient;
  rounding.elementwise(moment);
  sgd(numbers.learning_rate, moment, rounding, value);
}

}  // namespace meshparity::reference
