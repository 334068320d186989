// What a candidate dumped of one step and left behind after the one before, read from its states
// put together (a dump of one rank).
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"

namespace meshparity::reference {

/// The candidate did not dump what a law needs. Not an error of ours: the law is not decided.
struct MissingInput : Error {
  using Error::Error;  // "grad embed.weight of step 1"
};

/// Each record is read once.
class CandidateStep {
 public:
  /// `dump` outlives this.
  CandidateStep(const DumpReader& dump, int step);

  int step() const { return step_; }
  /// Throw MissingInput.
  const std::vector<double>& now(Phase phase, const std::string& record);
  const std::vector<double>& before(Phase phase, const std::string& record);
  /// Of an earlier step.
  const std::vector<double>& after(int step, Phase phase, const std::string& record);
  /// What each rank put into the sum that the record is; empty where the dump does not say.
  std::vector<std::vector<double>> contributions(Phase phase, const std::string& record) const;
  double number_now(Phase phase, const std::string& record);

 private:
  using Key = std::pair<int, std::pair<Phase, std::string>>;  // step first

  const DumpReader& dump_;
  int step_;
  std::map<Key, const Piece*> pieces_;
  std::set<std::string> locals_;
  std::map<Key, std::vector<double>> held_;
};

}  // namespace meshparity::reference
