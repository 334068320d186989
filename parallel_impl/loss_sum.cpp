#include "parallel_impl/loss_sum.hpp"

#include <algorithm>
#include <vector>

#include "fixtures/step_place.hpp"

namespace meshparity {

LossSum::LossSum(const CaseSpec& spec, const Mesh& mesh, FaultPlan& faults)
    : spec_(spec), mesh_(mesh), faults_(faults) {}

void LossSum::begin_step() {
  is_mean_of_means_ =
      spec_.loss_mode != LossMode::tokenmean || faults_.fires("mean_of_micro_batches");
  sum_ = ExactSum();
  tokens_ = 0;
}

template <class T>
void LossSum::add(std::span<const T> losses, std::int64_t counted) {
  ExactSum own;
  for (const T loss : losses) {
    (is_mean_of_means_ ? own : sum_).add(static_cast<double>(loss));
  }
  if (is_mean_of_means_) {
    sum_.add(own.value() / static_cast<double>(divisor_of(counted)));
  }
  tokens_ += counted;
}

std::int64_t LossSum::divisor_of(std::int64_t counted) const {
  return is_mean_of_means_ ? std::max<std::int64_t>(1, counted) : 1;
}

void LossSum::reduce(Comm& comm, int step) {
  const std::span<std::int64_t> limbs = sum_.mergeable();
  std::vector<std::int64_t> sums(limbs.begin(), limbs.end());
  sums.push_back(tokens_);
  comm.all_reduce(mesh_.group({Axis::dp, Axis::pp}), std::span(sums), ReduceOp::sum,
                  Site{-1, "tokens", "scalar", step, 0});
  tokens_ = sums.back();
  std::copy(sums.begin(), sums.end() - 1, limbs.begin());
}

std::int64_t LossSum::divisor() const {
  return is_mean_of_means_ ? parts() : tokens_;
}

std::int64_t LossSum::parts() const {
  const bool is_a_step = updates_each_micro_batch(spec_.schedule);
  return std::int64_t{mesh_.degree(Axis::dp)} * (is_a_step ? 1 : spec_.micro_batches);
}

double LossSum::loss() const {
  return tokens_ == 0 ? 0.0 : sum_.value() / static_cast<double>(divisor());
}

template void LossSum::add<double>(std::span<const double> losses, std::int64_t counted);
template void LossSum::add<float>(std::span<const float> losses, std::int64_t counted);

}  // namespace meshparity
