// What the command line said, verb by verb.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "matrix/compare_dumps.hpp"
#include "matrix/run_matrix.hpp"
#include "matrix/shard.hpp"

namespace meshparity {

enum class Color { automatic, always, never };

/// Which cases, and where their words are looked up; every verb that names cases has these.
struct CaseOptions {
  Selection selection{"smoke", {}, {}};
  std::filesystem::path text;  // empty: the default text
  std::filesystem::path models;
  std::filesystem::path cache = "build/cache";
};

/// How cases are run.
struct RunOptions {
  CaseOptions cases;
  Programs programs;
  std::filesystem::path out;  // empty: build/runs/<UTC time>
  bool resume = false;        // go on with the run in `out`
  Shard shard;                // of the selection
  int jobs = 0;               // 0: as many as there are cores
  bool once = false;          // no second run of what does not conform
  bool fail_fast = false;     // nothing is started after a case that diverges
  Keep keep = Keep::failed;
  Level level = Level::standard;
  double time_limit = 0;  // seconds
  double budget = 0;      // seconds; 0: none
  Color color = Color::automatic;
  std::string command;  // the line itself, to run it again
};

struct ReportOptions {
  std::vector<std::filesystem::path> folders;  // of runs
  std::filesystem::path out;                   // new folder of the merged run
  std::filesystem::path summary;               // Markdown for a CI service; empty: none
  bool annotations = false;
  Color color = Color::automatic;
};

struct MinimizeOptions {
  RunOptions run;
  int runs = 48;  // at most
};

struct CompareVerb {
  std::filesystem::path reference;
  std::filesystem::path candidate;
  CaseOptions lookup;             // where the reference finds models and texts when it is restarted
  std::filesystem::path program;  // meshparity-reference
  CompareOptions how;
  bool margins = false;  // print error over limit of every record, passes too
};

}  // namespace meshparity
