#include "reference/laws/operation_laws.hpp"

#include <algorithm>
#include <cmath>

namespace meshparity::reference {
namespace {

/// sum of x w, and of its terms' magnitudes.
struct Products {
  Wide sum = 0;
  Wide magnitude = 0;

  Products(std::span<const double> x, const double* w, std::size_t stride) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Wide term = static_cast<Wide>(x[k]) * w[k * stride];
      sum += term;
      magnitude += std::abs(term);
    }
  }
};

/// A row without its mean, and how far each element may be off.
struct Centred {
  std::vector<Wide> value;
  std::vector<Wide> error;

  Centred(std::span<const double> x, bool centred, Wide u) {
    const auto n = static_cast<Wide>(x.size());
    Wide sum = 0;
    Wide magnitude = 0;
    for (const double element : x) {
      sum += element;
      magnitude += std::abs(element);
    }
    const Wide mean = centred ? sum / n : 0;
    for (const double element : x) {
      value.push_back(element - mean);
      error.push_back(centred ? u * (magnitude + std::abs(value.back())) : 0);
    }
  }
};

/// A logit, and how far exp of it may be off relatively.
struct Logit {
  Wide value = 0;
  Wide error = 0;
};

Wide largest_of(std::span<const Logit> logits) {
  return std::max_element(logits.begin(), logits.end(),
                          [](const Logit& a, const Logit& b) { return a.value < b.value; })
      ->value;
}

}  // namespace

OperationType::OperationType(Precision precision, bool is_stored) {
  const StepType type = step_type(precision);
  const Lane& lane = lane_of(precision);
  u = type.u;
  smallest = type.smallest;
  operand = lane.operand;
  stored = is_stored ? lane.storage : 0;
}

Demand LinearLaw::element(std::span<const double> x, const double* w, std::size_t stride,
                          const double* bias) const {
  const Products products(x, w, stride);
  const auto terms = static_cast<Wide>(x.size());
  const Wide y = products.sum + (bias != nullptr ? *bias : 0);
  const Wide of_bias = bias != nullptr ? std::abs(y) + std::abs(static_cast<Wide>(*bias)) : 0;
  return {y, (terms * type.u + 2 * type.operand) * products.magnitude + type.u * of_bias +
                 type.stored * std::abs(y)};
}

std::vector<Demand> NormLaw::row(std::span<const double> x) const {
  const auto n = static_cast<Wide>(x.size());
  const Centred c(x, centred, type.u);
  Wide variance = 0;
  Wide of_variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    variance += c.value[i] * c.value[i] / n;
    of_variance += 2 * std::abs(c.value[i]) * c.error[i] / n;
  }
  of_variance += (n + 2) * type.u * variance;
  const Wide inverse = 1 / std::sqrt(variance + epsilon);
  const Wide relative = of_variance / (2 * (variance + epsilon)) + 5 * type.u;
  std::vector<Demand> demands;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide scaled = c.value[i] * inverse * weight[i];
    const Wide shift = bias.empty() ? 0 : bias[i];
    const Wide y = scaled + shift;
    const Wide of_centred = std::abs(inverse * weight[i]) * c.error[i];
    const Wide of_shift = bias.empty() ? 0 : type.u * std::abs(y);
    demands.push_back(
        {y, std::abs(scaled) * relative + of_centred + of_shift + type.stored * std::abs(y)});
  }
  return demands;
}

std::vector<Demand> SoftmaxLaw::row(std::span<const double> q,
                                    std::span<const double* const> keys) const {
  const auto width = static_cast<Wide>(q.size());
  const Wide scale = 1 / std::sqrt(width);
  std::vector<Logit> logits;
  for (const double* key : keys) {
    const Products products(q, key, 1);
    logits.push_back({scale * products.sum,
                      scale * ((width + 3) * type.u + 2 * type.operand) * products.magnitude});
  }
  if (sink != nullptr) {
    logits.push_back({*sink, 0});
  }
  const Wide largest = largest_of(logits);
  Wide denominator = 0;
  Wide weighted = 0;
  for (Logit& logit : logits) {
    logit.error += type.u * (std::abs(logit.value - largest) + 2);
    logit.value = std::exp(logit.value - largest);
    denominator += logit.value;
    weighted += logit.value * logit.error;
  }
  const Wide common = weighted / denominator + (static_cast<Wide>(logits.size()) + 3) * type.u;
  std::vector<Demand> demands;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const Wide p = logits[j].value / denominator;
    demands.push_back({p, p * (logits[j].error + common + type.stored) + type.smallest});
  }
  return demands;
}

}  // namespace meshparity::reference
