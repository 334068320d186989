#include "reference/golden_comparison.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "fixtures/case_rules.hpp"

namespace meshparity {
namespace {

// Two float64 evaluations of one formula differ by a few hundred roundings (2^-53 each) of the
// largest terms; 1e-12 is 9,000 of them, and a wrong term is far above.
constexpr double kRelative = 1e-12;
constexpr double kUnit = 0x1p-53;
constexpr double kSeen = 1e-6;        // of an AdamW step
constexpr double kMostUnseen = 0.01;  // of a parameter's elements

/// Largest ratio of error to limit over the elements kept; NaN counts as infinite.
double worst_ratio(const Kept& golden, const std::vector<double>& ours,
                   const std::function<double(std::size_t)>& limit) {
  double worst = 0;
  for (std::size_t i = 0; i < golden.values.size(); ++i) {
    const double error =
        std::abs(ours.at(static_cast<std::size_t>(golden.at[i])) - golden.values[i]);
    const double ratio = error == 0 ? 0 : error / limit(i);
    worst = ratio <= worst ? worst : std::isfinite(ratio) ? ratio : HUGE_VAL;
  }
  return worst;
}

/// Kept elements, norm and largest magnitude, each element of the tensor within `limit`.
void expect_close(const GoldenCase& both, const RecordKey& key, double limit) {
  const std::string what =
      fmt::format("{} {} step {}", phase_name(key.phase), key.record, key.step);
  const Kept& golden = both.golden().at(key);
  const std::vector<double>& ours = both.ours(key);
  const double norm = std::sqrt(std::inner_product(ours.begin(), ours.end(), ours.begin(), 0.0));
  double largest = 0;
  for (const double value : ours) {
    largest = std::abs(value) <= largest ? largest : std::abs(value);
  }
  const double root = std::sqrt(static_cast<double>(ours.size()));
  EXPECT_LE(worst_ratio(golden, ours, [&](std::size_t) { return limit; }), 1) << what;
  EXPECT_LE(std::abs(norm - golden.norm), limit * root) << what << ", norm";
  EXPECT_LE(std::abs(largest - golden.largest), limit) << what << ", largest";
}

void expect_close(const GoldenCase& both, const RecordKey& key) {
  const Kept& golden = both.golden().at(key);
  EXPECT_GT(golden.largest, 0) << key.record;
  expect_close(both, key, kRelative * golden.largest);
}

/// Zero in exact arithmetic (a key bias that adds one number to all scores of a query). What is
/// left is rounding, on the scale of the step's other gradients.
bool is_zero_in_theory(const GoldenCase& both, const std::string& parameter) {
  return find_record(both.records(), Phase::grad, parameter).zero_expected;
}

/// How far two right gradients of a parameter may lie apart.
double gradient_limit(const GoldenCase& both, int step, const std::string& parameter) {
  return kRelative * (is_zero_in_theory(both, parameter)
                          ? both.largest_gradient(step)
                          : both.kept(Phase::grad, step, parameter).largest);
}

void expect_equal_gradient(const GoldenCase& both, int step, const std::string& parameter) {
  const double zero = kRelative * both.largest_gradient(step);
  EXPECT_EQ(both.kept(Phase::grad, step, parameter).largest <= zero,
            is_zero_in_theory(both, parameter))
      << parameter;
  expect_close(both, {Phase::grad, step, parameter}, gradient_limit(both, step, parameter));
}

/// The gradients that are added into a parameter: its own, and those of the weights tied to it.
std::vector<std::string> gradients_of(const GoldenCase& both, const std::string& parameter) {
  std::vector<std::string> names = {parameter};
  for (const ParamSpec& param : both.parameters()) {
    if (param.tied_to == parameter) {
      names.push_back(param.name);
    }
  }
  return names;
}

/// AdamW of one element, from the golden gradients alone, with limits on all that it makes.
/// With gradients that differ by D, averages of them differ by the same average of D, and so do
/// the roots of averages of squares; hence for the step u = m/(sqrt(v)+e)
///     |change of u| <= D (1 + |u|) / (sqrt(v) + e),
/// which is large only where the gradient is small (for one step: algorithms of the first step).
struct AdamwLimits {
  double moment1 = 0, moment2 = 0, parameter = 0;

  void step(const ModelSpec& model, int t, double gradient, double difference) {
    const auto [b1, b2] = std::pair(model.beta1, model.beta2);
    m_ = b1 * m_ + (1 - b1) * gradient;
    v_ = b2 * v_ + (1 - b2) * gradient * gradient;
    size_ = b1 * size_ + (1 - b1) * std::abs(gradient);
    moment1 = b1 * moment1 + (1 - b1) * difference + 8 * kUnit * size_;
    moment2 = b2 * moment2 + (1 - b2) * difference * (2 * std::abs(gradient) + difference) +
              8 * kUnit * v_;
    largest_ = std::max(largest_, difference);
    const double root = std::sqrt(v_ / (1 - std::pow(b2, t))) + model.adam_epsilon;
    const double u = std::abs(m_) / (1 - std::pow(b1, t)) / root;
    parameter += model.learning_rate * (largest_ * (1 + u) / root + 32 * kUnit * (1 + u));
  }

 private:
  double m_ = 0, v_ = 0, size_ = 0, largest_ = 0;
};

/// A gradient of exactly 0 has no terms (a token that does not occur), so both sides have it
/// exactly; but where only theory makes it 0, one side's rounding may happen to leave nothing.
bool has_no_terms(const GoldenCase& both, const std::string& parameter, double gradient) {
  return gradient == 0 && !is_zero_in_theory(both, parameter);
}

/// Limits of every kept element of a parameter after the last step.
std::vector<AdamwLimits> adamw_limits(const GoldenCase& both, const std::string& parameter) {
  const std::vector<std::string> names = gradients_of(both, parameter);
  std::vector<AdamwLimits> limits(both.kept(Phase::grad, 0, parameter).values.size());
  int taken = 0;
  for (const int step : both.taken_steps()) {
    ++taken;
    const double coefficient = both.clip_coefficient(step);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      double gradient = 0, difference = 0;
      for (const std::string& name : names) {
        const double term = both.kept(Phase::grad, step, name).values[i];
        gradient += term;
        difference += has_no_terms(both, name, term) ? 0 : gradient_limit(both, step, name);
      }
      limits[i].step(both.model(), taken, coefficient * gradient, coefficient * difference);
    }
  }
  return limits;
}

/// Few elements may have a limit that would hide a change of kSeen of a step: those whose gradients
/// are so small that AdamW divides rounding by them.
void expect_equal_adamw(const GoldenCase& both, const std::string& parameter) {
  const int last = both.last_step();
  const std::vector<AdamwLimits> limits = adamw_limits(both, parameter);
  const Kept& value = both.kept(Phase::param, last, parameter);
  const auto expect = [&](Phase phase, const auto& limit) {
    const RecordKey key = {phase, last, parameter};
    EXPECT_LE(worst_ratio(both.golden().at(key), both.ours(key), limit), 1)
        << phase_name(phase) << " " << parameter;
  };
  const auto of_value = [&](std::size_t i) {
    return limits[i].parameter + 12 * kUnit * std::abs(value.values[i]);
  };
  expect(Phase::moment1, [&](std::size_t i) { return limits[i].moment1; });
  expect(Phase::moment2, [&](std::size_t i) { return limits[i].moment2; });
  expect(Phase::param, of_value);
  double unseen = 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    unseen += of_value(i) <= kSeen * both.model().learning_rate ? 0 : 1;
  }
  const double allowed = kMostUnseen * static_cast<double>(limits.size());
  EXPECT_EQ(unseen > allowed, is_zero_in_theory(both, parameter)) << parameter << ": " << unseen;
}

/// The moment is a sum of clipped gradients, older ones damped.
void expect_equal_momentum(const GoldenCase& both, const std::string& parameter) {
  double limit = kRelative * both.kept(Phase::moment1, both.last_step(), parameter).largest;
  double damping = 1;
  const std::vector<int> steps = both.taken_steps();
  for (auto taken = steps.rbegin(); taken != steps.rend(); ++taken) {
    const int step = *taken;
    for (const std::string& name : gradients_of(both, parameter)) {
      limit += damping * both.clip_coefficient(step) * gradient_limit(both, step, name);
    }
    damping *= both.model().momentum;
  }
  expect_close(both, {Phase::moment1, both.last_step(), parameter}, limit);
}

bool is_of_network(Phase phase) {
  return phase == Phase::forward || phase == Phase::backward || phase == Phase::loss;
}

}  // namespace

void expect_equal_network(const GoldenCase& both) {
  for (const auto& [key, kept] : both.golden()) {
    if (is_of_network(key.phase)) {
      expect_close(both, key);
    }
  }
  for (int step = 0; step <= both.last_step(); ++step) {
    expect_close(both, {Phase::forward, step, "logits"});
    expect_close(both, {Phase::loss, step, "loss"});
    if (both.spec().loss_scaling) {
      expect_close(both, {Phase::scalar, step, "found_inf"}, 0);
    }
  }
  for (const int step : both.taken_steps()) {
    if (!is_asynchronous(both.spec().schedule)) {
      expect_close(both, {Phase::scalar, step, "grad_norm"});
      expect_close(both, {Phase::scalar, step, "clip_coef"});
    } else {
      expect_close(both, {Phase::exact, step, "version"}, 0);
    }
    for (const ParamSpec& param : both.parameters()) {
      expect_equal_gradient(both, step, param.name);
    }
  }
}

void expect_equal_update(const GoldenCase& both) {
  for (const ParamSpec& param : both.parameters()) {
    if (both.spec().optimizer != OptimizerKind::adamw) {
      expect_close(both, {Phase::param, both.last_step(), param.name});
    }
    if (both.spec().optimizer == OptimizerKind::momentum && param.tied_to.empty()) {
      expect_equal_momentum(both, param.name);
    }
    if (both.spec().optimizer == OptimizerKind::adamw && param.tied_to.empty()) {
      expect_equal_adamw(both, param.name);
    }
  }
}

void expect_all_records(const GoldenCase& both) {
  std::set<RecordKey> due, held;
  for (const RecordSpec& record : both.records()) {
    for (int step = 0; step <= both.last_step() && is_of_network(record.phase); ++step) {
      if (is_recorded(record, both.spec(), step)) {
        due.insert({record.phase, step, record.name});
      }
    }
  }
  for (const auto& [key, kept] : both.golden()) {
    if (is_of_network(key.phase)) {
      held.insert(key);
    }
  }
  EXPECT_TRUE(due == held) << due.size() << " records, " << held.size() << " in the golden file";
}

}  // namespace meshparity
