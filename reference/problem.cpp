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
  require(spec.loss_mode == LossMode::tokenmean || spec.mesh.degree(Axis::cp) == 1,
          "means of means over parts of a sequence");
  require(!spec.forced_routing, "routing");
  require(spec.schedule != Schedule::pipedream && spec.schedule != Schedule::pipedream_vsync &&
              spec.schedule != Schedule::pipedream_2bw,
          "the pipedream schedules");
}

/// Means that are averaged: one of each data-parallel micro-batch, on which both modes agree while
/// no sequence is divided. 0: one mean over all tokens.
int mean_of_means(const CaseSpec& spec) {
  return spec.loss_mode == LossMode::tokenmean ? 0
                                               : spec.mesh.degree(Axis::dp) * spec.micro_batches;
}

void require_equal_groups(const ModelSpec& model, int groups) {
  if (groups > 0 && model.global_batch % groups != 0) {
    throw UsageError(
        fmt::format("the loss is a mean of {} means, and model {} has {} samples; "
                    "dp times micro-batches must divide them",
                    groups, model.name, model.global_batch));
  }
}

}  // namespace

Problem::Problem(const ModelSpec& model, const CaseSpec& given, std::shared_ptr<const Text> text)
    : spec(given),
      inputs(model, given, std::move(text)),
      network(model, given.smoothing ? model.smoothing : 0) {
  require_computable(given);
  require_equal_groups(model, mean_of_means(given));
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

LossShares Problem::loss_shares(int step) const {
  return reference::loss_shares(model(), inputs, step, mean_of_means(spec));
}

double Problem::learning_rate() const {
  return spec.optimizer == OptimizerKind::adamw ? model().learning_rate : model().sgd_learning_rate;
}

}  // namespace meshparity::reference
