#include <fmt/format.h>

#include "matrix/cli/exit_code.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/layout_verbs.hpp"

namespace meshparity {

int plan_model(PlanVerb verb) {
  verb.question.model = verb.model.ends_with(".toml") ? load_model(verb.model)
                                                      : load_named_model(verb.models, verb.model);
  verb.question.precision = verb.precision == "fp32" ? Precision::fp32 : Precision::fp64;
  const Plan plan = plan_layouts(verb.question);
  fmt::print("{}", verb.json ? plan_json(verb.question, plan) : plan_text(verb.question, plan));
  return plan.layouts.empty() ? kExitInconclusive : kExitConforms;
}

void add_plan(CLI::App& app, PlanVerb& verb, std::function<int()>& chosen) {
  verb.models = source_folder() / "fixtures" / "models";
  CLI::App& plan = *app.add_subcommand(
      "plan", "the layouts of a model on so many ranks, with memory and bytes; runs nothing");
  plan.add_option("--model", verb.model, "its name in the folder of models, or a file")->required();
  plan.add_option("--ranks", verb.question.ranks, "ranks of the world")
      ->required()
      ->check(CLI::Range(1, kLargestWorld));
  plan.add_option("--ranks-per-node", verb.question.ranks_per_node, "default: all on one node")
      ->check(CLI::PositiveNumber);
  plan.add_option("--mb", verb.question.micro_batches, "micro-batches of a step")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  plan.add_option("--precision", verb.precision, "fp64 or fp32")
      ->check(CLI::IsMember({"fp64", "fp32"}))
      ->capture_default_str();
  plan.add_option("--memory", verb.question.memory_limit, "bytes that a rank has")
      ->check(CLI::PositiveNumber);
  plan.add_option("--models", verb.models, "folder of model specs");
  plan.add_flag("--json", verb.json, "for programs");
  plan.callback([&] { chosen = [&verb] { return plan_model(verb); }; });
}

}  // namespace meshparity
