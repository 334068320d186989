// What a run was found to be: findings make checks, checks make the verdict of a case.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/record_table.hpp"

namespace meshparity {

/// In order of gravity; several make the gravest (contracts.md §4).
enum class Verdict { conforms, inconclusive, diverges };
std::string_view verdict_name(Verdict verdict);

/// What a candidate's value was compared with; decides which earlier findings explain it. Known
/// while judging, not stored.
enum class Basis {
  reference,  // the one run of the reference: earlier steps explain later ones
  own_state,  // a step that began with the candidate's own state: earlier steps do not
  own_step,   // a law, from what the candidate dumped of that step: no other record does
};

/// One thing found. Fields that do not apply keep their defaults.
struct Finding {
  Verdict gravity = Verdict::diverges;
  Basis basis = Basis::reference;
  std::string check;
  std::string record;  // "layer0.attn.out"; empty when it is about no record
  Phase phase = Phase::forward;
  int step = -1;
  int mb = -1;
  std::int64_t order = -1;
  int rank = -1;
  std::string coordinate;                 // "dp0 tp1"
  std::vector<std::int64_t> index;        // in the record's global shape
  std::vector<std::int64_t> piece_index;  // in the piece: { element } of the rank's dataset
  bool has_values = false;                // the next four hold
  double reference = 0;
  double candidate = 0;
  double error_ulp = 0;
  double error_relative = 0;
  double ratio = 0;  // error / limit of the statistic that failed (1 is the limit)
  double limit = 0;
  std::string derivation;    // how the limit came about, with its numbers
  std::string text;          // one line for people
  std::string follows_from;  // "forward layer0.mlp.out step 0": an earlier finding explains it
};

/// The letter of a law among the statistics of margins. Clean candidates attain a law's worst case:
/// close to 1 it is kept, no near miss.
inline constexpr char kLawStatistic = 'L';

/// Error over limit of one record, for passes too.
struct Margin {
  std::string record;
  Phase phase = Phase::forward;
  int step = 0;
  char statistic = 'F';  // the worst of F R C X G; L: a law
  double margin = 0;     // ratio / limit: 1 is the limit
  double sees = 0;       // smallest uniform relative change that would be flagged (bounds.md §3.9)
};

/// What went through collectives along one axis, over all ranks and steps.
struct AxisTraffic {
  std::string axis;  // "tp", "dp,cp"
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  // payload: of each call the whole tensor, on each of its ranks
  bool operator==(const AxisTraffic&) const = default;
};

struct CheckResult {
  std::string check;
  Verdict verdict = Verdict::conforms;
  bool evidence = true;           // false: "no evidence", adds nothing to the verdict
  std::int64_t compared = 0;      // elements that this check looked at
  std::vector<Finding> findings;  // first cause first
  std::vector<Margin> margins;
  std::vector<AxisTraffic> traffic;  // of check collectives
  std::vector<std::string> notes;    // "not compared yet: param step 1 (rebased adamw steps)"
};

struct CaseReport {
  std::string case_id;
  std::string relation;  // "rank_order"; empty: the case was compared with its reference
  std::string partner;   // the case that it must equal under that relation
  Verdict verdict = Verdict::inconclusive;  // no evidence is inconclusive
  std::string not_run;                      // a reason: then there is no verdict
  std::vector<CheckResult> checks;          // in the order of contracts.md §4
  double seconds = 0;
  std::string content;  // hash of what decides the result (run_content.hpp)
  std::string replay;   // the command that runs just this again
};

/// The gravest of the checks with evidence; inconclusive when there is none.
Verdict gravest(const std::vector<CheckResult>& checks);
/// The names of the checks in the order of contracts.md §4, as far as they exist.
inline constexpr std::array<std::string_view, 14> kCheckNames = {
    "liveness", "axis_took_effect", "coverage", "replicas", "forward", "logits",
    "loss",     "backward",         "grad",     "scalar",   "step",    "collectives",
    "memory",   "schedule"};

/// The finding to headline, of those as grave as the report's verdict: one that follows from no
/// other before one that does, then least (step, check order, order, mb). The step comes first:
/// a wrong gradient of step 0 is the cause of a wrong forward pass of step 1. A second run comes
/// last. Null when there is no finding.
const Finding* first_cause(const CaseReport& report);

}  // namespace meshparity
