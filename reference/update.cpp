#include "reference/update.hpp"

#include <algorithm>

#include "fixtures/step_place.hpp"

#include "reference/optimizer.hpp"

namespace meshparity::reference {
namespace {

std::vector<Matrix> divided_gradients(RunSums& sums, const LossShares& shares, Rounding& rounding) {
  const double factor = shares.divisor > 0 ? rounding.elementwise(1 / shares.divisor) : 0;
  std::vector<Matrix> gradients;
  for (GradientSum& sum : sums.gradients) {
    sum.finish(rounding);
    sum.value *= factor;
    rounding.elementwise(sum.value, shares.roundings());
    gradients.push_back(std::move(sum.value));
  }
  return gradients;
}

std::vector<Matrix> add_tied(const std::vector<ParamSpec>& table, std::vector<Matrix> gradients,
                             Rounding& rounding) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i].tied_to.empty()) {
      Matrix& sum = gradients[place_of(table, table[i].tied_to)];
      sum += gradients[i];
      rounding.elementwise(sum);
      gradients[i].resize(0, 0);
    }
  }
  return gradients;
}

void update_parameter(const Problem& problem, std::size_t i, const Matrix& gradient,
                      Rounding& rounding, State& state) {
  const ModelSpec& model = problem.model();
  switch (problem.spec.optimizer) {
    case OptimizerKind::adamw: {
      const bool decays = problem.network.parameters()[i].decay;
      const AdamwNumbers numbers = {model.learning_rate, model.beta1, model.beta2,
                                    model.adam_epsilon, decays ? model.weight_decay : 0};
      adamw(numbers, state.steps_taken, gradient,
            {state.parameters[i], state.moment1[i], state.moment2[i]});
      break;
    }
    case OptimizerKind::sgd:
      sgd(model.sgd_learning_rate, gradient, rounding, state.parameters[i]);
      break;
    case OptimizerKind::momentum:
      momentum_sgd({model.sgd_learning_rate, model.momentum}, gradient, rounding, state.moment1[i],
                   state.parameters[i]);
      break;
  }
}

void copy_tied(const std::vector<ParamSpec>& table, State& state) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i].tied_to.empty()) {
      const std::size_t source = place_of(table, table[i].tied_to);
      state.parameters[i] = state.parameters[source];
      state.moment1[i] = state.moment1[source];
      state.moment2[i] = state.moment2[source];
    }
  }
}

}  // namespace

Outcome finish_batch(const Problem& problem, RunSums sums, const LossShares& shares,
                     std::optional<bool> frozen, Rounding& rounding) {
  const ModelSpec& model = problem.model();
  Outcome outcome;
  const double terms = static_cast<double>(samples_of_step(model, problem.spec)) * model.sequence;
  const double loss = rounding.sum(sums.loss, sums.loss_squares, terms);
  outcome.loss =
      shares.divisor > 0 ? rounding.elementwise(loss / shares.divisor, shares.roundings()) : 0;
  outcome.gradients = divided_gradients(sums, shares, rounding);
  outcome.found_inf = !std::all_of(outcome.gradients.begin(), outcome.gradients.end(),
                                   [](const Matrix& gradient) { return gradient.allFinite(); });
  outcome.distinct = add_tied(problem.network.parameters(), outcome.gradients, rounding);
  outcome.norm = global_norm(outcome.distinct, rounding);
  outcome.clip = clip(outcome.norm, problem.clip_limit(), frozen, rounding);
  return outcome;
}

void apply_update(const Problem& problem, const Outcome& outcome, Rounding& rounding,
                  State& state) {
  const std::vector<ParamSpec>& table = problem.network.parameters();
  if (problem.spec.loss_scaling) {
    state.loss_scale.advance(outcome.found_inf);
    if (outcome.found_inf) {
      return;
    }
  }
  ++state.steps_taken;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table[i].tied_to.empty()) {
      continue;
    }
    Matrix gradient = outcome.distinct[i];
    if (outcome.clip.active) {
      gradient *= outcome.clip.coefficient;
      rounding.elementwise(gradient);
    }
    update_parameter(problem, i, gradient, rounding, state);
  }
  copy_tied(table, state);
}

}  // namespace meshparity::reference
