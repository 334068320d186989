// `minimize`: from a case that diverges to the smallest that still does, and what in it must come
// together. Walks reductions greedily; runs nothing itself.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// What a case was found to be. Two cases diverge alike when these are equal: the first cause is of
/// the same check, and of the same record but for the layer's number.
struct Sighting {
  Verdict verdict = Verdict::inconclusive;
  std::string cause;  // "forward: forward layer*.attn.out"
  bool operator==(const Sighting&) const = default;
};
Sighting sighting_of(const CaseReport& report);

/// One reduction that was run.
struct MinimizeStep {
  std::string id;
  std::string change;  // "without sp"
  Sighting sighting;
  bool alike = false;  // it diverges as the case does that is minimized
};

struct MinimizeOracle {
  std::function<bool(const CaseSpec& spec)> is_legal;
  std::function<Sighting(const CaseSpec& spec)> look;  // runs the case; asked once a case
  std::function<void(const MinimizeStep& step)> tell;
};

struct Minimized {
  CaseSpec smallest;
  Sighting sighting;
  std::vector<std::string> interacting;  // words of the smallest case, each of which it needs
  std::vector<std::string> defaults;     // unkind defaults without which the smallest conforms
  int runs = 0;
  int undecided = 0;  // cases that were inconclusive: they may diverge alike
  bool complete =
      false;  // no single legal reduction of it diverges alike; else `limit` was reached
};

/// Deterministic. `limit` counts runs, that of `start` with them. Throws UsageError when `start`
/// does not diverge.
Minimized minimize(const CaseSpec& start, const MinimizeOracle& oracle, int limit);

}  // namespace meshparity
