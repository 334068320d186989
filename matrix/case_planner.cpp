#include "matrix/case_planner.hpp"

#include <fmt/format.h>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"

namespace meshparity {
namespace {

std::string why_not(const ModelSpec& model, const CaseSpec& spec) {
  if (const auto reason = why_illegal(model, spec)) {
    return *reason;
  }
  try {
    require_built(spec);
  } catch (const NotBuiltYet& refusal) {
    // The reason stands beside the id: no need to name the case again.
    const std::string reason = refusal.what();
    const std::string named = fmt::format("case \"{}\": ", format_case(spec));
    return reason.starts_with(named) ? reason.substr(named.size()) : reason;
  }
  return "";
}

}  // namespace

const CasePlanner::LoadedModel& CasePlanner::model_of(const CaseSpec& spec) {
  const std::string name = spec.model + "@" + spec.model_hash;
  const auto found = models_.find(name);
  if (found != models_.end()) {
    return found->second;
  }
  const std::filesystem::path file = source_.models / (spec.model + ".toml");
  LoadedModel loaded{load_named_model(source_.models, spec.model), sha256_hex_of_file(file)};
  if (!spec.model_hash.empty() && !loaded.file_hash.starts_with(spec.model_hash)) {
    throw UsageError(fmt::format("model {}@{}: the file {} has hash {}", spec.model,
                                 spec.model_hash, file.string(), loaded.file_hash.substr(0, 8)));
  }
  return models_.emplace(name, std::move(loaded)).first->second;
}

PlannedCase CasePlanner::plan(const CaseSpec& spec) {
  const LoadedModel& model = model_of(spec);
  PlannedCase planned;
  planned.id = format_case(spec);
  planned.spec = spec;
  planned.model = model.spec;
  planned.model_file_hash = model.file_hash;
  planned.excluded = why_not(planned.model, spec);
  return planned;
}

std::string CasePlanner::why_excluded(const CaseSpec& spec) {
  return why_not(model_of(spec).spec, spec);
}

}  // namespace meshparity
