#include "matrix/run_dir.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fixtures/error.hpp"
#include "matrix/this_machine.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void require_new(const fs::path& root) {
  const fs::file_status there = fs::status(root);
  if (fs::is_directory(there) && fs::is_empty(root)) {
    return;
  }
  if (fs::exists(there)) {
    throw UsageError(
        fmt::format("output folder {} exists and is not empty; give another --out", root.string()));
  }
}

}  // namespace

RunDir RunDir::create(const fs::path& root) {
  try {
    require_new(root);
    RunDir made(fs::absolute(root).lexically_normal());
    fs::create_directories(made.launches());
    return made;
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("output folder {} cannot be written: {}; give another --out",
                                 root.string(), error.code().message()));
  }
}

RunDir RunDir::reopen(const fs::path& root) {
  RunDir found(fs::absolute(root).lexically_normal());
  if (root.empty() || !fs::is_regular_file(found.plan())) {
    throw UsageError(fmt::format(
        "there is no run to resume in \"{}\": it holds no plan.json; name its folder with --out",
        root.string()));
  }
  return found;
}

RunDir RunDir::open(const fs::path& root) {
  RunDir found(fs::absolute(root).lexically_normal());
  if (root.empty() || !fs::is_regular_file(found.plan())) {
    throw UsageError(
        fmt::format("\"{}\" is no folder of a run: it holds no plan.json; give what --out named",
                    root.string()));
  }
  return found;
}

RunDir RunDir::create_by_time(const fs::path& parent) {
  const std::string now = utc_now();
  fs::path root = parent / now;
  for (int again = 2; fs::exists(root); ++again) {
    root = parent / fmt::format("{}_{}", now, again);
  }
  RunDir made = create(root);
  const fs::path latest = parent / "latest";
  std::error_code none;  // a link that cannot be made loses nothing of the run
  if (fs::is_symlink(latest, none) || !fs::exists(latest, none)) {
    fs::remove(latest, none);
    fs::create_directory_symlink(root.filename(), latest, none);
  }
  return made;
}

namespace {

Json to_json(const CoverSummary& cover) {
  Json json = {{"origin", cover.origin}, {"strength", cover.strength}, {"legal", cover.legal},
               {"cases", cover.cases},   {"sampled", cover.sampled},   {"keys", cover.keys},
               {"ranks", cover.ranks}};
  json["excluded"] = Json::array();
  for (const CoverSummary::Excluded& each : cover.excluded) {
    json["excluded"].push_back({{"combination", each.combination}, {"reason", each.reason}});
  }
  return json;
}

CoverSummary cover_from(const Json& json) {
  CoverSummary cover{json.at("origin"),  json.at("strength"), json.at("legal"), json.at("cases"),
                     json.at("sampled"), json.at("keys"),     json.at("ranks"), {}};
  for (const Json& each : json.at("excluded")) {
    cover.excluded.push_back({each.at("combination"), each.at("reason")});
  }
  return cover;
}

}  // namespace

void write_plan(const fs::path& file, const RunPlan& plan) {
  Json json = {{"command", plan.command}, {"started", plan.started}, {"commit", plan.commit},
               {"cpu", plan.cpu},         {"cores", plan.cores},     {"level", plan.level},
               {"shard", plan.shard},     {"text", plan.text},       {"cases", plan.cases}};
  json["relations"] = Json::array();
  for (const RelatedCases& each : plan.relations) {
    json["relations"].push_back(
        {{"relation", each.relation}, {"first", each.first}, {"partner", each.partner}});
  }
  json["excluded"] = Json::array();
  for (const ExcludedCase& excluded : plan.excluded) {
    json["excluded"].push_back({{"case", excluded.id}, {"reason", excluded.reason}});
  }
  json["covers"] = Json::array();
  for (const CoverSummary& cover : plan.covers) {
    json["covers"].push_back(to_json(cover));
  }
  std::ofstream out(file);
  out << json.dump(2) << '\n';
  if (!out.flush()) {
    throw Error(fmt::format("writing the plan {}", file.string()));
  }
}

RunPlan read_plan(const fs::path& file) {
  try {
    std::ifstream in(file);
    const Json json = Json::parse(in);
    RunPlan plan;
    plan.command = json.at("command");
    plan.started = json.at("started");
    plan.commit = json.at("commit");
    plan.cpu = json.at("cpu");
    plan.cores = json.at("cores");
    plan.level = json.at("level");
    plan.shard = json.value("shard", "");  // plans of before had none
    plan.text = json.at("text");
    plan.cases = json.at("cases").get<std::vector<std::string>>();
    for (const Json& each : json.at("relations")) {
      plan.relations.push_back({each.at("relation"), each.at("first"), each.at("partner")});
    }
    for (const Json& excluded : json.at("excluded")) {
      plan.excluded.push_back({excluded.at("case"), excluded.at("reason")});
    }
    for (const Json& cover : json.at("covers")) {
      plan.covers.push_back(cover_from(cover));
    }
    return plan;
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{} is no plan of a run: {}", file.string(), error.what()));
  }
}

}  // namespace meshparity
