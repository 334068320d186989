// What decides the result of a case, as one hash: an interrupted run goes on from the results whose
// hash is still the same.
#pragma once
#include <string>

#include "matrix/enumerate.hpp"
#include "matrix/run_matrix.hpp"

namespace meshparity {

/// Hashes the programs once.
class RunContent {
 public:
  /// `driver` is this program's own file.
  RunContent(const Programs& programs, const std::filesystem::path& driver, Level level,
             bool second_runs);

  /// Case, level, second runs, model and programs; 16 hex digits. The text's hash is part of the
  /// id.
  std::string of(const PlannedCase& planned) const;
  std::string of(const PlannedRelation& planned) const;

 private:
  std::string code_;
};

}  // namespace meshparity
