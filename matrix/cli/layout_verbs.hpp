// The verbs that look at layouts and run nothing: explain, plan; and assemble, which writes a
// dump's global view for people.
#pragma once
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <string>

#include "matrix/explain.hpp"
#include "matrix/plan.hpp"

namespace meshparity {

struct ExplainVerb {
  std::string id;
  std::filesystem::path models;
  ExplainOptions how;
  bool json = false;
};
/// Prints; returns the exit code. Throws UsageError for an id, a model or a layout that is wrong.
int explain_case(const ExplainVerb& verb);
void add_explain(CLI::App& app, ExplainVerb& verb, std::function<int()>& chosen);

struct PlanVerb {
  std::string model;  // a name in `models`, or a .toml file
  std::filesystem::path models;
  PlanQuestion question;
  std::string precision = "fp64";
  bool json = false;
};
/// As above; exit 3 when no layout is possible.
int plan_model(PlanVerb verb);
void add_plan(CLI::App& app, PlanVerb& verb, std::function<int()>& chosen);

/// Throws UsageError for a folder that is no dump, or that has a global.h5.
int assemble_dump(const std::filesystem::path& dump);
void add_assemble(CLI::App& app, std::filesystem::path& dump, std::function<int()>& chosen);

}  // namespace meshparity
