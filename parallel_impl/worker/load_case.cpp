#include "parallel_impl/worker/load_case.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"

namespace meshparity {
namespace {

// A model of the user's own is named with the hash of its file, so the folder must hold that file.
void require_same_model(const Job& job, const CaseSpec& spec) {
  if (spec.model_hash.empty()) {
    return;
  }
  const std::filesystem::path file = job.models / (spec.model + ".toml");
  const std::string found = sha256_hex_of_file(file).substr(0, spec.model_hash.size());
  if (found != spec.model_hash) {
    throw UsageError(fmt::format("{}: the case names {}@{}, but this file's hash is {}",
                                 file.string(), spec.model, spec.model_hash, found));
  }
}

ModelSpec load_allowed_model(const Job& job, const CaseSpec& spec) {
  ModelSpec model = load_named_model(job.models, spec.model);
  require_same_model(job, spec);
  if (const std::optional<std::string> reason = why_illegal(model, spec)) {
    throw UsageError(fmt::format("{}: {}", job.case_id, *reason));
  }
  return model;
}

}  // namespace

LoadedCase load_case(const Job& job) {
  CaseSpec spec = parse_case(job.case_id);
  require_built(spec);
  const FaultPlan known(spec, 0);
  ModelSpec model = load_allowed_model(job, spec);
  const std::shared_ptr<const Text> text =
      job.text.empty() ? nullptr : std::make_shared<const Text>(load_text(job.text));
  RawInputs inputs(model, spec, text);
  return {job, std::move(spec), std::move(model), std::move(inputs)};
}

}  // namespace meshparity
