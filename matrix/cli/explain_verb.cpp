#include <fmt/format.h>

#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"
#include "matrix/case_planner.hpp"
#include "matrix/cli/exit_code.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/layout_verbs.hpp"
#include "matrix/cli/terminal.hpp"

namespace meshparity {

int explain_case(const ExplainVerb& verb) {
  const CaseSource source{{}, verb.models, {}};
  const PlannedCase planned = CasePlanner(source).plan(parse_case(verb.id));
  if (const auto why = why_illegal(planned.model, planned.spec)) {
    throw UsageError(fmt::format("{}: {}", verb.id, *why));
  }
  ExplainOptions how = verb.how;
  how.columns = terminal_width();
  const Explanation explanation = explain(planned.spec, planned.model, how);
  fmt::print("{}", verb.json ? explanation_json(explanation) : explanation_text(explanation));
  if (!verb.json && !planned.excluded.empty()) {
    fmt::print("cannot be run: {}\n", planned.excluded);
  }
  return kExitConforms;
}

void add_explain(CLI::App& app, ExplainVerb& verb, std::function<int()>& chosen) {
  verb.models = source_folder() / "fixtures" / "models";
  CLI::App& explain = *app.add_subcommand(
      "explain", "mesh, groups, owners, collectives, memory and checks of a case; runs nothing");
  explain.add_option("CASE", verb.id, "the case id")->required();
  explain.add_option("--rank", verb.how.rank, "whose parts and collectives are shown")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  explain
      .add_option("--ranks-per-node", verb.how.ranks_per_node,
                  "rank r is on node r / N (default: the case's node<N>, else one node)")
      ->check(CLI::PositiveNumber);
  explain.add_option("--models", verb.models, "folder of model specs");
  explain.add_flag("--json", verb.json, "everything, for programs");
  explain.callback([&] { chosen = [&verb] { return explain_case(verb); }; });
}

}  // namespace meshparity
