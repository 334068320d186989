// Where a run lies on disk, and its first phase: the plan, written before anything runs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "matrix/cover_cases.hpp"

namespace meshparity {

/// The folder of one run. Made new, never written over.
class RunDir {
 public:
  /// Throws UsageError when the folder exists and is not empty, or cannot be written.
  static RunDir create(const std::filesystem::path& root);
  /// The folder of a run that was interrupted. Throws UsageError when there is none.
  static RunDir reopen(const std::filesystem::path& root);
  /// The folder of a run that is to be read. Throws UsageError when it holds none.
  static RunDir open(const std::filesystem::path& root);
  /// <parent>/<UTC time> with a link <parent>/latest to it.
  static RunDir create_by_time(const std::filesystem::path& parent);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path plan() const { return root_ / "plan.json"; }
  std::filesystem::path results() const { return root_ / "results.jsonl"; }
  std::filesystem::path report() const { return root_ / "report.md"; }
  std::filesystem::path junit() const { return root_ / "junit.xml"; }
  /// Job files and logs.
  std::filesystem::path launches() const { return root_ / "launches"; }
  std::filesystem::path case_folder(const std::string& id) const { return root_ / id; }
  std::filesystem::path dump(const std::string& id) const { return root_ / id / "dump"; }
  /// The candidate's states put together, and the reference that was restarted from them.
  std::filesystem::path rebased(const std::string& id) const { return root_ / id / "rebased"; }
  /// The second run of a case that does not conform.
  std::filesystem::path again(const std::string& id) const { return root_ / id / "again"; }
  /// The dump of a run that relations speak of.
  std::filesystem::path related(const std::string& name) const {
    return root_ / "relations" / name;
  }

 private:
  explicit RunDir(std::filesystem::path root) : root_(std::move(root)) {}
  std::filesystem::path root_;
};

struct ExcludedCase {
  std::string id;
  std::string reason;
};

/// Two cases that a relation demands to be equal.
struct RelatedCases {
  std::string relation;
  std::string first;
  std::string partner;
  bool operator==(const RelatedCases&) const = default;
};

/// What a run was asked to do, and where: written before it begins, read by the reports.
struct RunPlan {
  std::string command;  // the line to run it again
  std::string started;  // UTC
  std::string commit;   // and tree state
  std::string cpu;
  int cores = 0;
  std::string level;
  std::string shard;  // "2/4": only that part of the cases below was to be run (shard.hpp)
  std::string text;   // file of the text data; empty when no case reads one
  std::vector<std::string> cases;
  std::vector<RelatedCases> relations;
  std::vector<ExcludedCase> excluded;
  std::vector<CoverSummary> covers;
};
/// Throws Error when the file cannot be written.
void write_plan(const std::filesystem::path& file, const RunPlan& plan);
/// Throws UsageError when the file is no plan.
RunPlan read_plan(const std::filesystem::path& file);

}  // namespace meshparity
