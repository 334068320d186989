// For tests: the smallest model as a problem, and matrices written out by hand.
#pragma once
#include <initializer_list>
#include <string>

#include "fixtures/model_spec.hpp"
#include "reference/problem.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {

inline CaseSpec spec_of(const std::string& model) {
  CaseSpec spec;
  spec.model = model;
  return spec;
}

inline Problem problem_of(const CaseSpec& spec) {
  return Problem(load_named_model(MESHPARITY_MODELS, spec.model), spec, nullptr);
}

inline Problem micro_problem() {
  return problem_of(spec_of("gpt-micro"));
}

/// A batch of three groups of samples.
inline Problem three_groups(OptimizerKind optimizer) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.global_batch = 10;
  CaseSpec spec = spec_of("gpt-micro");
  spec.optimizer = optimizer;
  return Problem(model, spec, nullptr);
}

inline Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix values(rows.size(), rows.begin()->size());
  Eigen::Index i = 0;
  for (const auto& row : rows) {
    Eigen::Index j = 0;
    for (const double value : row) {
      values(i, j++) = value;
    }
    ++i;
  }
  return values;
}

/// The companion of a record; nullptr when there is none.
inline const Companion* find(const StepOutput& output, Phase phase, const std::string& record) {
  for (const Companion& companion : output.companions) {
    if (companion.phase == phase && companion.record == record) {
      return &companion;
    }
  }
  return nullptr;
}

/// Largest absolute difference; NaN anywhere gives NaN, which fails every "<=".
inline double largest_difference(const Matrix& a, const Matrix& b) {
  return (a - b).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

}  // namespace meshparity::reference
