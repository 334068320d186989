// What a step starts from and leaves behind: parameters, moments, number of steps taken.
#pragma once
#include <cstdint>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/param_table.hpp"
#include "reference/tensor.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// Matrices in the order of the parameter table. A tied parameter has equal entries of its own.
struct State {
  std::vector<Matrix> parameters;
  std::vector<Matrix> moment1;  // zero with sgd
  std::vector<Matrix> moment2;  // zero unless adamw
  std::int64_t steps_taken = 0;
};

State initial_state(const std::vector<ParamSpec>& table, std::uint64_t seed);

/// The state after step `step` of a world-1 dump; training goes on at step + 1. Throws UsageError
/// naming the record that is missing or has another size.
State read_state(const DumpReader& dump, const std::vector<ParamSpec>& table,
                 OptimizerKind optimizer, int step);

Weights make_weights(const State& state);

}  // namespace meshparity::reference
