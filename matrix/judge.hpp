// From evidence on disk to the report of one case: runs every check, in the order that names the
// first cause. Starts nothing and writes nothing.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// How a candidate's launch ended, as the driver saw it.
struct LaunchOutcome {
  bool finished = true;  // the program said "done" for this case
  std::string what;      // else: the error it gave, the signal, or what stood still
  int rank = -1;         // the rank it names, if any
  std::string coordinate;
  bool never_began = false;  // the program could not be started: inconclusive, not diverging
};

/// Where the evidence lies. `companions` empty: no limits yet, every bounded record is
/// inconclusive ("no limits").
struct Evidence {
  CaseSpec spec;
  ModelSpec model;
  Level level = Level::standard;
  std::filesystem::path candidate;   // folder with rank_0000.h5 ...
  std::filesystem::path reference;   // folder with rank_0000.h5
  std::filesystem::path companions;  // companions_fp32.h5
  std::filesystem::path rebased;     // rank_0000.h5 of the rebased reference; empty: none
  /// Why there is none, and how grave that is for what only it decides: AdamW's steps after the
  /// first, and every law.
  std::string not_rebased = "the reference was not restarted from the candidate's states";
  Verdict not_rebased_gravity = Verdict::conforms;
  std::filesystem::path board;  // may be absent
  LaunchOutcome outcome;
  std::string replay;  // the command to print with findings
};

/// Of a probe only the candidate's dump is read.
/// Throws UsageError when the dumps cannot be read or are of unlike cases; whatever the candidate
/// did wrong is in the report.
CaseReport judge(const Evidence& evidence);

}  // namespace meshparity
