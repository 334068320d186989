#include "reference/finished_step.hpp"

#include <array>
#include <span>
#include <vector>

#include "fixtures/step_place.hpp"

namespace meshparity::reference {
namespace {

std::span<const double> elements(const Matrix& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

void put_scalars(const FinishedStep& finished, StepRecords& records) {
  const Outcome& outcome = finished.outcome;
  records.put(Phase::loss, "loss", outcome.loss);
  records.put(Phase::scalar, "token_count", finished.tokens);
  records.put(Phase::scalar, "loss_scale", finished.loss_scale);
  records.put(Phase::scalar, "found_inf", outcome.found_inf ? 1 : 0);
  records.put(Phase::scalar, "grad_norm", outcome.norm);
  records.put(Phase::scalar, "clip_coef", outcome.clip.coefficient);
  records.put(Phase::scalar, "lr", finished.problem.learning_rate());
  records.put(Phase::margin, "clip", outcome.clip.margin);
}

void put_parameters(const FinishedStep& finished, StepRecords& records) {
  const std::vector<ParamSpec>& table = finished.problem.network.parameters();
  for (std::size_t i = 0; i < table.size(); ++i) {
    records.put(Phase::grad, table[i].name, elements(finished.outcome.gradients[i]));
    records.put(Phase::moment1, table[i].name, elements(finished.state.moment1[i]));
    records.put(Phase::moment2, table[i].name, elements(finished.state.moment2[i]));
    records.put(Phase::param, table[i].name, elements(finished.compute_copies[i]));
    records.put(Phase::master, table[i].name, elements(finished.state.parameters[i]));
  }
}

void put_exact(const FinishedStep& finished, StepRecords& records) {
  const Problem& problem = finished.problem;
  const int batch = batch_of_step(problem.spec, finished.step);
  std::vector<double> ids;
  for (const int sample : problem.samples(finished.step)) {
    ids.push_back(static_cast<double>(problem.inputs.sample_id(batch, sample)));
  }
  records.put(Phase::exact, "sample_ids", ids);
  records.put(Phase::exact, "step_count", static_cast<double>(finished.state.steps_taken));
  const std::array<double, 2> key = {static_cast<double>(problem.spec.seed),
                                     static_cast<double>(batch)};
  records.put(Phase::exact, "rng_key", key);
  std::vector<double> versions;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    versions.push_back(version_used(problem.spec, stage, finished.step));
  }
  records.put(Phase::exact, "version", versions);
}

}  // namespace

void put_finished(const FinishedStep& finished, StepRecords& records) {
  put_scalars(finished, records);
  put_parameters(finished, records);
  put_exact(finished, records);
}

}  // namespace meshparity::reference
