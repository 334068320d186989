// `compare REFERENCE CANDIDATE`: two dump folders or files, by bounds or by equality.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "matrix/dump_set.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

struct RebaseQuestion {
  const CaseSpec& spec;
  Level level;
  const DumpSet& reference;
  const DumpSet& candidate;
};

struct CompareOptions {
  bool exact = false;   // force equality even when REFERENCE has companions
  bool across = false;  // allow dumps of unlike cases; the differences are listed first
  /// Folder of model specs. Without the case's, owners and due collectives are not compared.
  std::filesystem::path models = {};
  /// Restarts the reference from the candidate's states and gives its dump, or throws Error: then
  /// AdamW's later steps and the laws are printed as not compared.
  std::function<std::filesystem::path(const RebaseQuestion& question)> rebase = {};
};

struct Comparison {
  Verdict verdict = Verdict::inconclusive;
  std::vector<std::string> differences;  // of the two cases, with `across`
  std::vector<CheckResult> checks;
};

/// By bounds if REFERENCE has companions beside it, else by equality (-0 equals +0 and is counted;
/// NaN never equals). Dumps of unlike cases or precisions are refused with UsageError unless
/// `across`; a reference serves every case that shares its key.
Comparison compare_dumps(const std::filesystem::path& reference,
                         const std::filesystem::path& candidate, const CompareOptions& options);

}  // namespace meshparity
