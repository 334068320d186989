// What a step starts from and leaves behind: parameters, moments, number of steps taken.
#pragma once
#include <cstdint>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/loss_scaling.hpp"
#include "fixtures/param_table.hpp"
#include "reference/rounding.hpp"
#include "reference/tensor.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// The factor of the loss in backward. A power of two, so that in FP64 multiplying by it and
/// dividing by it again changes no bit: the reference computes as if it were 1.
struct LossScale {
  double scale = kFirstLossScale;
  int good_steps = 0;  // in a row since the scale last moved

  void advance(bool found_inf);
  bool operator==(const LossScale&) const = default;
};

/// Matrices in the order of the parameter table. A tied parameter has equal entries of its own.
struct State {
  std::vector<Matrix> parameters;
  std::vector<Matrix> moment1;  // zero with sgd
  std::vector<Matrix> moment2;  // zero unless adamw
  std::int64_t steps_taken = 0;
  LossScale loss_scale = {};
};

State initial_state(const std::vector<ParamSpec>& table, std::uint64_t seed);

/// The state after step `step` of a world-1 dump; training goes on at step + 1. Parameters are the
/// masters in bf16, whose compute copies are the lane's rounding, else those that forward reads.
/// Throws UsageError naming the record that is missing or has another size.
State read_state(const DumpReader& dump, const std::vector<ParamSpec>& table,
                 OptimizerKind optimizer, int step);

/// Of read_state, the parameters alone.
std::vector<Matrix> read_parameters(const DumpReader& dump, const std::vector<ParamSpec>& table,
                                    int step);

Weights make_weights(const State& state);
/// What a noisy replica computes with: compute copies of weights, and those as operands of
/// products. A tied weight's two are one.
Weights make_noisy_weights(const State& state, const std::vector<ParamSpec>& table,
                           Rounding rounding);

}  // namespace meshparity::reference
