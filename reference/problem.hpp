// A case as the reference sees it: only what its key holds (contracts.md §2).
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/raw_inputs.hpp"
#include "reference/loss_shares.hpp"
#include "reference/network.hpp"
#include "reference/weight_versions.hpp"

namespace meshparity::reference {

struct Problem {
  CaseSpec spec;
  RawInputs inputs;
  Network network;

  /// Throws NotBuiltYet naming what the reference cannot compute yet, UsageError when the groups of
  /// the loss do not divide the batch.
  Problem(const ModelSpec& model, const CaseSpec& spec, std::shared_ptr<const Text> text);

  const ModelSpec& model() const { return network.model(); }
  int stages() const { return stage_count(spec); }
  /// Of a step; indices in its batch.
  std::vector<int> samples(int step) const;
  DropoutPlan dropout(int step) const;
  /// The gradient norm's limit; nothing with clip_off.
  std::optional<double> clip_limit() const;
  double learning_rate() const;
  /// Which each parameter lies on.
  std::vector<int> stages_of_parameters() const;
  LossShares loss_shares(int step) const;
};

}  // namespace meshparity::reference
