#include "reference/laws/reduction_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "fixtures/loss_scaling.hpp"

namespace meshparity::reference {
namespace {

class ReductionLaws {
 public:
  ReductionLaws(LawInputs& inputs, std::vector<Law>& laws)
      : inputs_(inputs), type_(step_type(inputs.spec.precision)), laws_(laws) {}

  void gradients() {
    const LossShares shares = inputs_.problem.loss_shares(inputs_.step());
    if (shares.divisor == 0) {
      return;  // all is 0 by contract, whatever the ranks hold
    }
    for (const ParamSpec& param : inputs_.params()) {
      add(
          Phase::grad, param.name,
          [&] {
            return ReductionLaw{type_, static_cast<Wide>(shares.divisor) * loss_scale(), 0, 2,
                                inputs_.spec.gradcomm_bf16};
          },
          std::nullopt);
    }
  }

  void row_linears() {
    const ModelSpec& model = inputs_.problem.model();
    const ModelPlaces places = model_places(model, inputs_.params());
    for (int layer = 0; layer < model.layers; ++layer) {
      const BlockPlaces& block = places.blocks[static_cast<std::size_t>(layer)];
      row_linear(fmt::format("layer{}.attn.out", layer), block.out);
      row_linear(fmt::format("layer{}.mlp.out", layer), block.down);
    }
  }

 private:
  void row_linear(const std::string& record, LinearPlace place) {
    add(
        Phase::forward, record,
        [&] {
          return ReductionLaw{type_, 1, 0, place.bias ? 1 : 0};
        },
        place.bias);
  }
  Wide loss_scale() {
    return inputs_.spec.loss_scaling ? inputs_.candidate.number_now(Phase::scalar, "loss_scale")
                                     : 1;
  }

  template <class MakeLaw>
  void add(Phase phase, const std::string& record, MakeLaw make_law,
           std::optional<std::size_t> bias) {
    const auto ranks = inputs_.candidate.contributions(phase, record);
    if (ranks.empty()) {
      return;
    }
    add_law(laws_, {"reduction", record, phase, inputs_.step(), "", ""}, [&](Law& law) {
      ReductionLaw each = make_law();
      const std::vector<double> shift = bias ? inputs_.as_read(*bias) : std::vector<double>();
      law.row.derivation =
          fmt::format("sum of what {} ranks put in{}; ({}(P-1) u sum|c|{}) x 1.01, u = {}",
                      ranks.size(), each.rounded ? ", each rounded to bfloat16" : "",
                      each.rounded ? "half a bfloat16 spacing + " : "",
                      phase == Phase::grad ? " + 2 u |sum|) / divisor" : " + u (|y| + |bias|)",
                      type_.roundoff_text);
      std::vector<Wide> terms(ranks.size());
      for (std::size_t e = 0; e < ranks.front().size(); ++e) {
        for (std::size_t k = 0; k < ranks.size(); ++k) {
          terms[k] = ranks[k].at(e);
        }
        each.bias = shift.empty() ? 0 : shift[e % shift.size()];
        append(each.element(terms), law.values);
      }
    });
  }

  LawInputs& inputs_;
  StepType type_;
  std::vector<Law>& laws_;
};

/// Between neighbours around a number: 8 digits of it, down to the subnormals' 2^-133.
Wide bfloat16_spacing(Wide value) {
  constexpr int kDigits = 8;
  constexpr int kSubnormal = -133;
  int exponent = kSubnormal;
  if (value != 0) {
    static_cast<void>(std::frexp(value, &exponent));
  }
  return std::ldexp(Wide{1}, std::max(exponent - kDigits, kSubnormal));
}

/// To nearest, ties to even; what lies beyond the largest number is no case of a law.
Wide to_bfloat16(Wide value) {
  const Wide spacing = bfloat16_spacing(value);
  return std::nearbyint(value / spacing) * spacing;
}

}  // namespace

Demand ReductionLaw::element(std::span<const Wide> contributions) const {
  Wide sum = 0;
  Wide magnitude = 0;
  for (const Wide contribution : contributions) {
    const Wide term = rounded ? to_bfloat16(contribution) : contribution;
    sum += term;
    magnitude += std::abs(term);
  }
  const auto additions = static_cast<Wide>(contributions.size()) - 1;
  const Wide adding = type.u * additions * magnitude;
  const Wide storing = rounded ? bfloat16_spacing(std::abs(sum) + adding) / 2 : 0;
  const Wide y = sum / divisor + bias;
  return {y, (adding + storing) / divisor + type.u * (after * std::abs(y) + std::abs(bias))};
}

void add_reduction_laws(LawInputs& inputs, std::vector<Law>& laws) {
  ReductionLaws of_step(inputs, laws);
  if (!is_skipped(inputs.spec, inputs.step())) {
    of_step.gradients();
  }
  of_step.row_linears();
}

}  // namespace meshparity::reference
