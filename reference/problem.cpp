#include "reference/problem.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity::reference {
namespace {

void require_computable(const CaseSpec& spec) {
  const auto require = [](bool holds, std::string_view what) {
    if (!holds) {
      throw NotBuiltYet(fmt::format("the reference has {} not built yet", what));
    }
  };
  require(!spec.packed, "packed documents");
  require(spec.loss_mode == LossMode::tokenmean, "loss modes other than tokenmean");
  require(!spec.loss_scaling, "loss scaling");
  require(!spec.master64, "restarts from a float32 compute copy");
  require(!spec.forced_routing, "routing");
  require(spec.schedule != Schedule::pipedream && spec.schedule != Schedule::pipedream_vsync &&
              spec.schedule != Schedule::pipedream_2bw,
          "the pipedream schedules");
}

}  // namespace

Problem::Problem(const ModelSpec& model, const CaseSpec& given, std::shared_ptr<const Text> text)
    : spec(given),
      inputs(model, given, std::move(text)),
      network(model, given.smoothing ? model.smoothing : 0) {
  require_computable(given);
}

DropoutPlan Problem::dropout(int step) const {
  return {spec.seed, step, spec.dropout ? model().dropout : 0};
}

std::optional<double> Problem::clip_limit() const {
  switch (spec.clip) {
    case ClipMode::exceeded:
      return model().clip;
    case ClipMode::near:
      return model().clip_near;
    case ClipMode::off:
      break;
  }
  return std::nullopt;
}

double Problem::learning_rate() const {
  return spec.optimizer == OptimizerKind::adamw ? model().learning_rate : model().sgd_learning_rate;
}

}  // namespace meshparity::reference
