// meshparity: the driver's command line. Reference first, candidate second, everywhere.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "fixtures/error.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/layout_verbs.hpp"
#include "matrix/cli/verbs.hpp"

namespace meshparity {
namespace {

const std::vector<std::string> kLaterVerbs = {"bisect", "sensitivity", "recover", "scale"};

// Everything the command line can say, and the verb that it chose.
struct CommandLine {
  CaseOptions list;
  RunOptions run;
  RunOptions replay;
  MinimizeOptions minimize;
  ReportOptions report;
  CompareVerb compare;
  ExplainVerb explain;
  PlanVerb plan;
  std::filesystem::path assemble;
  CaseOptions doctor;
  std::function<int()> chosen;
};

void add_lookup(CLI::App& verb, CaseOptions& options) {
  options.models = source_folder() / "fixtures" / "models";
  verb.add_option("--text", options.text,
                  "the file that text data are read from (default: the licences of this machine)");
  verb.add_option("--models", options.models, "folder of model specs");
  verb.add_option("--cache", options.cache, "folder of references and texts")
      ->capture_default_str();
}

void add_selection(CLI::App& verb, CaseOptions& options) {
  verb.add_option("CASE", options.selection.ids, "case ids; without them a suite is run");
  verb.add_option("--suite", options.selection.suite, "smoke, singles, or a path to a .toml")
      ->capture_default_str();
  verb.add_option("--only", options.selection.only,
                  "keep the cases whose id matches this glob, or another of further --only")
      ->allow_extra_args(false);
  add_lookup(verb, options);
}

// An option of a few words: `text` becomes the value beside it.
template <class Value>
void add_choice(CLI::App& verb, const std::string& name, Value& value, const std::string& what,
                const std::map<std::string, Value>& words) {
  std::set<std::string> known;
  for (const auto& [word, meaning] : words) {
    known.insert(word);
  }
  const auto take = [&value, words](const std::string& word) { value = words.at(word); };
  verb.add_option_function<std::string>(name, take, what)->check(CLI::IsMember(known));
}

void add_running(CLI::App& verb, RunOptions& options) {
  options.programs = programs_beside();
  options.time_limit = default_time_limit();
  verb.add_option("--out", options.out, "new folder of results (default: build/runs/<UTC time>)");
  verb.add_option("--jobs", options.jobs, "launches side by side (default: the number of cores)")
      ->check(CLI::PositiveNumber);
  verb.add_option("--time-limit", options.time_limit,
                  "seconds after which a case on whose board nothing moves is killed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_choice<Color>(
      verb, "--color", options.color, "auto (default), always or never",
      {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}});
  verb.add_option("--reference", options.programs.reference, "the reference program");
  verb.add_option("--worker", options.programs.worker, "the worker program");
}

void add_budget(CLI::App& verb, RunOptions& options) {
  verb.add_option("--budget", options.budget, "seconds after which nothing more is run")
      ->check(CLI::PositiveNumber);
}

void add_run(CLI::App& app, CommandLine& line) {
  CLI::App& verb = *app.add_subcommand("run", "run cases and their references, compare, report");
  add_selection(verb, line.run.cases);
  verb.add_option("--relation", line.run.cases.selection.relations,
                  "with case ids: instead of judging them, demand this exact relation, and those "
                  "of further --relation")
      ->allow_extra_args(false);
  add_running(verb, line.run);
  add_budget(verb, line.run);
  verb.add_flag("--resume", line.run.resume,
                "go on with the interrupted run in --out: results that still hold stay");
  verb.add_option_function<std::string>(
      "--shard", [&line](const std::string& text) { line.run.shard = parse_shard(text); },
      "I/N: run the I-th of N parts of the selection; `report` merges them");
  verb.add_flag("--once", line.run.once, "do not run again what does not conform");
  verb.add_flag("--fail-fast", line.run.fail_fast, "start nothing after a case that diverges");
  add_choice<Keep>(verb, "--keep", line.run.keep, "dumps that stay: all, failed (default) or none",
                   {{"all", Keep::all}, {"failed", Keep::failed}, {"none", Keep::none}});
  add_choice<Level>(verb, "--level", line.run.level, "detail of the dumps: standard (default), all",
                    {{"standard", Level::standard}, {"all", Level::all}});
  verb.callback([&line] { line.chosen = [&line] { return run_cases(line.run); }; });
}

void add_replay(CLI::App& app, CommandLine& line) {
  CLI::App& verb =
      *app.add_subcommand("replay", "one case at level all, its first divergent record explained");
  verb.add_option("CASE", line.replay.cases.selection.ids, "the case id")->required()->expected(1);
  add_lookup(verb, line.replay.cases);
  add_running(verb, line.replay);
  add_budget(verb, line.replay);
  verb.callback([&line] { line.chosen = [&line] { return replay_case(line.replay); }; });
}

void add_report(CLI::App& app, CommandLine& line) {
  CLI::App& verb = *app.add_subcommand("report", "render runs again; merge the shards of one");
  verb.add_option("DIR", line.report.folders, "folders of runs")->required();
  verb.add_option("--out", line.report.out, "new folder, for the merged run of several DIR");
  verb.add_option("--summary", line.report.summary, "Markdown for a CI service, under 1 MiB");
  verb.add_flag("--annotations", line.report.annotations,
                "print the first failures as GitHub's ::error lines");
  verb.callback([&line] { line.chosen = [&line] { return report_runs(line.report); }; });
}

void add_minimize(CLI::App& app, CommandLine& line) {
  CLI::App& verb = *app.add_subcommand(
      "minimize", "the smallest case that diverges alike, and the features that interact");
  RunOptions& run = line.minimize.run;
  verb.add_option("CASE", run.cases.selection.ids, "the case id")->required()->expected(1);
  add_lookup(verb, run.cases);
  add_running(verb, run);
  verb.add_option("--runs", line.minimize.runs, "runs of cases at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.callback([&line] { line.chosen = [&line] { return minimize_case(line.minimize); }; });
}

void add_compare(CLI::App& app, CommandLine& line) {
  CLI::App& verb = *app.add_subcommand("compare", "two dump folders or HDF5 files");
  verb.add_option("REFERENCE", line.compare.reference, "its limits lie beside it, if any")
      ->required();
  verb.add_option("CANDIDATE", line.compare.candidate, "what is judged")->required();
  verb.add_flag("--exact", line.compare.how.exact, "by equality even where limits are at hand");
  verb.add_flag("--margins", line.compare.margins, "print error / limit of every record");
  verb.add_flag("--across", line.compare.how.across, "allow unlike cases, listing how they differ");
  add_lookup(verb, line.compare.lookup);
  line.compare.program = programs_beside().reference;
  verb.callback([&line] { line.chosen = [&line] { return compare(line.compare); }; });
}

void add_verbs(CLI::App& app, CommandLine& line) {
  CLI::App& list = *app.add_subcommand("list", "the cases, and every excluded one with its reason");
  add_selection(list, line.list);
  list.callback([&line] { line.chosen = [&line] { return list_cases(line.list); }; });
  add_run(app, line);
  add_compare(app, line);
  add_replay(app, line);
  add_explain(app, line.explain, line.chosen);
  add_plan(app, line.plan, line.chosen);
  add_assemble(app, line.assemble, line.chosen);
  add_minimize(app, line);
  add_report(app, line);
  CLI::App& doctor =
      *app.add_subcommand("doctor", "what this machine can run, and what is missing");
  add_lookup(doctor, line.doctor);
  doctor.callback([&line] { line.chosen = [&line] { return meshparity::doctor(line.doctor); }; });
  for (const std::string& name : kLaterVerbs) {
    CLI::App& verb = *app.add_subcommand(name, "not built yet");
    verb.allow_extras();
    verb.callback([&line, name] {
      line.chosen = [name]() -> int {
        throw NotBuiltYet(
            fmt::format("{} is not built yet; see meshparity --help for those that are", name));
      };
    });
  }
}

std::string command_text(int argc, char** argv) {
  std::string text = "meshparity";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" *?[]\"'$;&|<>()") == std::string::npos;
    text += plain ? " " + word : fmt::format(" '{}'", word);
  }
  return text;
}

int refuse(const std::string& what) {
  fmt::print(stderr, "meshparity: {}\n", what);
  return kExitUsage;
}

int run_command(int argc, char** argv) {
  CLI::App app("meshparity: does a model-parallel training compute what one process would?");
  app.require_subcommand(1);
  CommandLine line;
  line.run.command = line.replay.command = line.minimize.run.command = command_text(argc, argv);
  add_verbs(app, line);
  try {
    app.parse(argc, argv);
    return line.chosen();
  } catch (const CLI::Success& asked) {  // --help
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return refuse(fmt::format("{}; see meshparity --help", error.what()));
  }
}

}  // namespace
}  // namespace meshparity

int main(int argc, char** argv) {
  try {
    return meshparity::run_command(argc, argv);
  } catch (const std::exception& error) {
    // UsageError, and whatever the world refused before or around the first case.
    return meshparity::refuse(error.what());
  }
}
