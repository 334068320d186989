#include "reference/laws/law_inputs.hpp"

#include <algorithm>
#include <utility>

#include "fixtures/case_rules.hpp"

namespace meshparity::reference {

bool LawInputs::has_master() const {
  return spec.master64 || spec.precision == Precision::bf16;
}

bool LawInputs::clips() const {
  return !is_asynchronous(spec.schedule);
}

std::vector<Wide> LawInputs::gradient(std::size_t i) {
  const std::string& owner = params()[i].tied_to.empty() ? params()[i].name : params()[i].tied_to;
  const std::vector<double>& own = candidate.now(Phase::grad, owner);
  std::vector<Wide> sum(own.begin(), own.end());
  for (const ParamSpec& other : params()) {
    if (other.tied_to == owner) {
      const std::vector<double>& more = candidate.now(Phase::grad, other.name);
      for (std::size_t e = 0; e < sum.size(); ++e) {
        sum[e] += more.at(e);
      }
    }
  }
  return sum;
}

std::vector<std::vector<Wide>> LawInputs::distinct_gradients() {
  std::vector<std::vector<Wide>> gradients;
  for (std::size_t i = 0; i < params().size(); ++i) {
    if (params()[i].tied_to.empty()) {
      gradients.push_back(gradient(i));
    }
  }
  return gradients;
}

std::vector<Wide> LawInputs::clipped_gradient(std::size_t i) {
  std::vector<Wide> clipped = gradient(i);
  const Wide coefficient = clips() ? candidate.number_now(Phase::scalar, "clip_coef") : 1;
  for (Wide& element : clipped) {
    element *= coefficient;
  }
  return clipped;
}

std::vector<double> LawInputs::start(std::size_t i, Phase phase) {
  if (step() > 0) {
    return candidate.before(phase, params()[i].name);
  }
  std::vector<double> values(static_cast<std::size_t>(element_count(params()[i].shape)));
  if (phase == updated_phase()) {
    initial_values(params(), i, spec.seed, 0, values);
  }
  return values;
}

std::vector<double> LawInputs::as_read(std::size_t i) {
  const int version = version_used(spec, problem.stages_of_parameters()[i], step());
  if (version > 0) {
    return candidate.after(version - 1, Phase::param, params()[i].name);
  }
  std::vector<double> values(static_cast<std::size_t>(element_count(params()[i].shape)));
  initial_values(params(), i, spec.seed, 0, values);
  std::transform(values.begin(), values.end(), values.begin(),
                 [&](double value) { return compute_copy_of(value, spec.precision); });
  return values;
}

std::int64_t LawInputs::steps_taken_before() {
  return step() == 0
             ? 0
             : static_cast<std::int64_t>(candidate.before(Phase::exact, "step_count").at(0));
}

void add_law(std::vector<Law>& laws, LawRow row, const std::function<void(Law&)>& fill) {
  Law law{std::move(row), {}};
  try {
    fill(law);
  } catch (const MissingInput& missing) {
    law.row.missing = missing.what();
    law.values = {};
  }
  laws.push_back(std::move(law));
}

}  // namespace meshparity::reference
