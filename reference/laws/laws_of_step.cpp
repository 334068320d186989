#include "reference/laws/laws_of_step.hpp"

#include "fixtures/loss_scaling.hpp"
#include "reference/laws/forward_laws.hpp"
#include "reference/laws/parameter_laws.hpp"
#include "reference/laws/reduction_laws.hpp"
#include "reference/laws/scalar_laws.hpp"

namespace meshparity::reference {
namespace {

void add_clip_laws(LawInputs& inputs, std::vector<Law>& laws) {
  const StepType type = step_type(inputs.spec.precision);
  add_law(laws, {"clip_norm", "grad_norm", Phase::scalar, inputs.step(), "", ""}, [&](Law& law) {
    law.row.derivation = clip_norm_derivation(type);
    append(clip_norm(inputs.distinct_gradients(), type), law.values);
  });
  add_law(laws, {"clip_coefficient", "clip_coef", Phase::scalar, inputs.step(), "", ""},
          [&](Law& law) {
            law.row.derivation = clip_coefficient_derivation(type);
            const double norm = inputs.candidate.number_now(Phase::scalar, "grad_norm");
            append(clip_coefficient(inputs.problem.clip_limit(), norm, type), law.values);
          });
}

void add_loss_law(LawInputs& inputs, std::vector<Law>& laws) {
  const StepType type = step_type(inputs.spec.precision);
  add_law(laws, {"loss_sum", "loss", Phase::loss, inputs.step(), "", ""}, [&](Law& law) {
    law.row.derivation = loss_sum_derivation(type);
    const LossShares shares = inputs.problem.loss_shares(inputs.step());
    append(loss_sum(inputs.candidate.now(Phase::loss, "loss.token"), shares, type), law.values);
  });
}

}  // namespace

std::vector<Law> laws_of_step(const LawCase& question, CandidateStep& candidate) {
  LawInputs inputs(question, candidate);
  std::vector<Law> laws;
  if (!is_skipped(question.spec, candidate.step()) && inputs.clips()) {
    add_clip_laws(inputs, laws);
  }
  add_loss_law(inputs, laws);
  for (std::size_t i = 0; i < inputs.params().size(); ++i) {
    add_parameter_laws(inputs, i, laws);
  }
  if (question.level == Level::all) {
    add_forward_laws(inputs, laws);
    add_reduction_laws(inputs, laws);
  }
  return laws;
}

}  // namespace meshparity::reference
