#include "reference/companion_sums.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "fixtures/param_table.hpp"

namespace meshparity::reference {

CompanionSums::CompanionSums(int replicas)
    : products_(Matrix::Zero(replicas, replicas)), projections_(Column::Zero(replicas)) {}

void CompanionSums::set_zero() {
  products_.setZero();
  projections_.setZero();
  exact_squares_ = 0;
}

void CompanionSums::add(const Matrix& deviations, std::span<const double> exact) {
  const Eigen::Map<const Column> ref(exact.data(), static_cast<Eigen::Index>(exact.size()));
  products_.noalias() += deviations * deviations.transpose();
  projections_.noalias() += deviations * ref;
  exact_squares_ += ref.squaredNorm();
}

void CompanionSums::add(const CompanionSums& other) {
  products_ += other.products_;
  projections_ += other.projections_;
  exact_squares_ += other.exact_squares_;
}

double CompanionSums::effective(double elements) const {
  const auto replicas = static_cast<double>(products_.rows());
  const double mean_square = products_.trace() / replicas;
  const double unlike = products_.squaredNorm() - products_.diagonal().squaredNorm();
  const double mean_unlike = unlike / (replicas * (replicas - 1));
  if (mean_square == 0) {
    return 1;
  }
  if (mean_unlike <= 0) {
    return elements;
  }
  return std::clamp(mean_square * mean_square / mean_unlike, 1.0, elements);
}

Companion CompanionSums::finish(const RecordSpec& record, int step,
                                std::vector<float> mean_squares) const {
  Companion companion;
  companion.record = record.name;
  companion.phase = record.phase;
  companion.step = step;
  const std::int64_t count = element_count(record.shape);
  companion.rows = std::accumulate(record.shape.begin(), record.shape.begin() + record.row_dims,
                                   std::int64_t{1}, std::multiplies<>());
  companion.columns = count / companion.rows;
  companion.samples = static_cast<int>(products_.rows());
  companion.s2 = std::move(mean_squares);
  const auto elements = static_cast<double>(count);
  companion.total = products_.trace() / static_cast<double>(products_.rows()) / elements;
  companion.effective = effective(elements);
  for (const double projection : projections_) {
    companion.g.push_back(exact_squares_ > 0 ? projection / exact_squares_ : 0);
  }
  return companion;
}

void mean_squares(const Matrix& deviations, std::span<float> s2) {
  const Row means = deviations.colwise().squaredNorm() / static_cast<double>(deviations.rows());
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  std::transform(means.begin(), means.end(), s2.begin(), [=](double mean) {
    return mean > 0 ? std::max(static_cast<float>(mean), kSmallest) : static_cast<float>(mean);
  });
}

}  // namespace meshparity::reference
