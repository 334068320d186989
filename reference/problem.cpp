#include "reference/problem.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "fixtures/error.hpp"
#include "fixtures/step_place.hpp"

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
}

/// Data-parallel micro-batches of a step.
int groups_of_step(const CaseSpec& spec) {
  const int replicas = spec.mesh.degree(Axis::dp);
  return updates_each_micro_batch(spec.schedule) ? replicas : replicas * spec.micro_batches;
}

/// Means that are averaged: one of each data-parallel micro-batch, on which both modes agree while
/// no sequence is divided. 0: one mean over all tokens.
int mean_of_means(const CaseSpec& spec) {
  return spec.loss_mode == LossMode::tokenmean ? 0 : groups_of_step(spec);
}

void require_equal_groups(const ModelSpec& model, const CaseSpec& spec) {
  const int groups = spec.mesh.degree(Axis::dp) * spec.micro_batches;
  const bool matters =
      spec.loss_mode != LossMode::tokenmean || updates_each_micro_batch(spec.schedule);
  if (matters && model.global_batch % groups != 0) {
    throw UsageError(
        fmt::format("a step or its loss is made of {} parts, and model {} has {} samples; "
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
  require_equal_groups(model, given);
}

std::vector<int> Problem::samples(int step) const {
  std::vector<int> indices(static_cast<std::size_t>(samples_of_step(model(), spec)));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = sample_in_batch(model(), spec, step, static_cast<int>(i));
  }
  return indices;
}

DropoutPlan Problem::dropout(int step) const {
  return {spec.seed, batch_of_step(spec, step), spec.dropout ? model().dropout : 0};
}

std::vector<int> Problem::stages_of_parameters() const {
  return stages_of(network.parameters(), model().layers, spec);
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
  return reference::loss_shares(model(), inputs, {batch_of_step(spec, step), samples(step)},
                                mean_of_means(spec));
}

double Problem::learning_rate() const {
  return spec.optimizer == OptimizerKind::adamw ? model().learning_rate : model().sgd_learning_rate;
}

}  // namespace meshparity::reference
