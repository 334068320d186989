#include "reference/laws/parameter_laws.hpp"

#include <utility>

#include "fixtures/loss_scaling.hpp"
#include "reference/laws/optimizer_laws.hpp"

namespace meshparity::reference {
namespace {

class ParameterLaws {
 public:
  ParameterLaws(LawInputs& inputs, std::size_t i, std::vector<Law>& laws)
      : inputs_(inputs),
        i_(i),
        name_(inputs.params()[i].name),
        type_(step_type(inputs.spec.master64 ? Precision::fp64 : inputs.spec.precision)),
        gradient_type_(is_tied() ? step_type(inputs.spec.precision) : type_),
        laws_(laws) {}

  void standing() {
    if (inputs_.spec.optimizer != OptimizerKind::sgd) {
      unmoved("moment1", Phase::moment1);
    }
    if (inputs_.spec.optimizer == OptimizerKind::adamw) {
      unmoved("moment2", Phase::moment2);
    }
    unmoved("update", inputs_.updated_phase());
  }

  void adamw() {
    add("moment1", Phase::moment1, [this](Law& law) {
      const AdamwLaw numbers = adamw_numbers(gradient_type_);
      law.row.derivation = numbers.moment1_derivation();
      each(inputs_.start(i_, Phase::moment1), inputs_.clipped_gradient(i_), law,
           [&](Wide m, Wide g) { return numbers.moment1(m, g); });
    });
    add("moment2", Phase::moment2, [this](Law& law) {
      const AdamwLaw numbers = adamw_numbers(gradient_type_);
      law.row.derivation = numbers.moment2_derivation();
      each(inputs_.start(i_, Phase::moment2), inputs_.clipped_gradient(i_), law,
           [&](Wide v, Wide g) { return numbers.moment2(v, g); });
    });
    add("update", inputs_.updated_phase(), [this](Law& law) { adamw_update(law); });
  }

  void momentum() {
    const ModelSpec& model = inputs_.problem.model();
    add("moment1", Phase::moment1, [&](Law& law) {
      const MomentumLaw numbers{model.momentum, gradient_type_};
      law.row.derivation = numbers.derivation();
      each(inputs_.start(i_, Phase::moment1), inputs_.clipped_gradient(i_), law,
           [&](Wide m, Wide g) { return numbers.moment1(m, g); });
    });
    add("update", inputs_.updated_phase(), [&](Law& law) {
      const std::vector<double>& moved = inputs_.candidate.now(Phase::moment1, name_);
      descent(law, {model.sgd_learning_rate, 2, type_}, {moved.begin(), moved.end()});
    });
  }

  void sgd() {
    add("update", inputs_.updated_phase(), [&](Law& law) {
      descent(law, {inputs_.problem.model().sgd_learning_rate, 8, gradient_type_},
              inputs_.clipped_gradient(i_));
    });
  }

  void compute_copy() {
    add("compute_copy", Phase::param, [this](Law& law) {
      law.row.derivation = "the master rounded to the computing type, exactly";
      for (const double master : inputs_.candidate.now(Phase::master, name_)) {
        append_exact(compute_copy_of(master, inputs_.spec.precision), law.values);
      }
    });
  }

 private:
  /// Two gradients are added before the update, in the computing type.
  bool is_tied() const {
    return inputs_.problem.model().tied_embeddings &&
           (name_ == "embed.weight" || name_ == "head.weight");
  }

  template <class Fill>
  void add(std::string law, Phase phase, Fill fill) {
    add_law(laws_, {std::move(law), name_, phase, inputs_.step(), "", ""}, fill);
  }

  template <class Formula>
  static void each(const std::vector<double>& start, const std::vector<Wide>& direction, Law& law,
                   Formula formula) {
    for (std::size_t e = 0; e < start.size(); ++e) {
      append(formula(start[e], direction.at(e)), law.values);
    }
  }

  void unmoved(const char* name, Phase phase) {
    add(name, phase, [&](Law& law) {
      law.row.derivation = "the step was skipped: nothing moves, exactly";
      for (const double value : inputs_.start(i_, phase)) {
        append_exact(value, law.values);
      }
    });
  }

  void descent(Law& law, const DescentLaw& numbers, const std::vector<Wide>& direction) {
    law.row.derivation = numbers.derivation();
    each(inputs_.start(i_, inputs_.updated_phase()), direction, law,
         [&](Wide theta, Wide d) { return numbers.update(theta, d); });
  }

  AdamwLaw adamw_numbers(const StepType& type) {
    const ModelSpec& model = inputs_.problem.model();
    return {model.learning_rate,
            model.beta1,
            model.beta2,
            model.adam_epsilon,
            inputs_.params()[i_].decay ? model.weight_decay : 0,
            inputs_.steps_taken_before() + 1,
            type};
  }

  void adamw_update(Law& law) {
    const AdamwLaw numbers = adamw_numbers(type_);
    law.row.derivation = numbers.update_derivation();
    const std::vector<double> theta = inputs_.start(i_, inputs_.updated_phase());
    const std::vector<double>& m = inputs_.candidate.now(Phase::moment1, name_);
    const std::vector<double>& v = inputs_.candidate.now(Phase::moment2, name_);
    for (std::size_t e = 0; e < theta.size(); ++e) {
      append(numbers.update(theta[e], m.at(e), v.at(e)), law.values);
    }
  }

  LawInputs& inputs_;
  std::size_t i_;
  const std::string& name_;
  StepType type_;           // of parameters and moments
  StepType gradient_type_;  // of what a moment is moved by
  std::vector<Law>& laws_;
};

}  // namespace

void add_parameter_laws(LawInputs& inputs, std::size_t i, std::vector<Law>& laws) {
  ParameterLaws of_parameter(inputs, i, laws);
  if (is_skipped(inputs.spec, inputs.step())) {
    of_parameter.standing();
  } else if (inputs.spec.optimizer == OptimizerKind::adamw) {
    of_parameter.adamw();
  } else if (inputs.spec.optimizer == OptimizerKind::momentum) {
    of_parameter.momentum();
  } else {
    of_parameter.sgd();
  }
  if (inputs.has_master()) {
    of_parameter.compute_copy();
  }
}

}  // namespace meshparity::reference
