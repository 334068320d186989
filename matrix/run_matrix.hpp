// The spine of `run`, read this first: references, then launches, then a verdict for each case as
// it ends. Starts the two programs and links neither.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "matrix/enumerate.hpp"
#include "matrix/judge.hpp"
#include "matrix/run_dir.hpp"

namespace meshparity {

/// Which dumps stay after they were judged.
enum class Keep { all, failed, none };

struct Programs {
  std::filesystem::path reference;
  std::filesystem::path worker;
};

/// Everything a run needs; the cases are those that can run.
struct RunRequest {
  std::vector<PlannedCase> cases;
  Programs programs;
  std::filesystem::path cache;
  std::filesystem::path models;
  std::filesystem::path text;  // empty when no case reads one
  int jobs = 1;                // launches side by side
  Keep keep = Keep::failed;
  Level level = Level::standard;
  std::chrono::milliseconds time_limit{5000};  // of a board on which nothing moves
  std::optional<std::chrono::milliseconds> budget;
  bool second_runs = false;  // what does not conform runs again alone before it is reported
  bool fail_fast = false;    // after a case that diverges nothing more is started
  std::string commit;
  std::string replay_options;  // what `meshparity replay ID` needs besides
};

struct ReferencesMade {
  std::size_t needed = 0;
  std::size_t made = 0;  // the others were in the cache
  double seconds = 0;
};

/// Called one at a time.
struct RunHooks {
  std::function<void(std::size_t missing, std::size_t needed)> references_begun;
  std::function<void(const ReferencesMade& made)> references_ended;
  std::function<void(const std::string& id)> begun;
  std::function<void(const CaseReport& report)> ended;
  std::function<void(const std::string& text)> note;
  std::function<CaseReport(const Evidence& evidence)> judge = meshparity::judge;
};

/// One report a case, in the order of the request. Whatever goes wrong with a case is in its
/// report.
std::vector<CaseReport> run_matrix(const RunRequest& request, const RunDir& dir,
                                   const RunHooks& hooks);

}  // namespace meshparity
