// What a schedule costs, in closed form (algorithms.md §3.9, §11.3): bubbles and activations in
// flight. Written beside the simulator, which must give the same.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "matrix/expect/simulate.hpp"

namespace meshparity::expect {

/// From the start of a stage's first work to the end of its last; 0 without work.
std::int64_t span_of(const std::vector<TimedAction>& stage);
/// From the first start to the last end of work anywhere.
std::int64_t makespan_of(const Played& played);

/// Times of one list: a step, or the run of a stream. tau is what a micro-batch takes on one stage,
/// over all its chunks.
struct Bubble {
  std::int64_t busy = 0;      // m tau, alike on all stages
  std::int64_t span = 0;      // the longest of a stage, from its first work to its last
  std::int64_t makespan = 0;  // of all stages together

  /// Of ZB-H2 and ZB-V, whose stages are shifted, of the span; else of the makespan.
  std::int64_t time() const { return (by_span ? span : makespan) - busy; }
  /// beta_tot, of the whole time, and beta_id, of the ideal time. Two definitions, never mixed.
  double share_of_makespan() const;
  double share_of_ideal() const;

  bool by_span = false;
  bool operator==(const Bubble&) const = default;
};

/// "bubble 3 of 15 units: 20.0 % of the whole time (beta_tot), 25.0 % of the ideal time (beta_id)";
/// says whose time it is where stages are shifted.
std::string bubble_text(const Bubble& bubble);

/// By formula, for stages that are alike; `time` is of one chunk's actions. A stream fills and
/// drains once in the run, as 1F1B in a step: in between it has no bubble. Nothing where there is
/// no formula: ZB schedules unless all three times are equal.
std::optional<Bubble> bubble_due(const CaseSpec& spec, const WorkTime& time);
/// Of what was played.
Bubble bubble_of(const CaseSpec& spec, const Played& played);

/// The most (chunk, micro-batch) pairs of a stage between two of their actions.
struct InFlight {
  int inputs = 0;   // from F to the end of B: full activations, M_B
  int weights = 0;  // from F to the end of W; unsplit: to the end of B
  bool operator==(const InFlight&) const = default;
};
/// By formula; divided by chunks_per_stage they are activations of a whole stage.
InFlight in_flight_due(const CaseSpec& spec, int stage);
/// Counted in a list of a stage.
InFlight in_flight_of(const CaseSpec& spec, const ActionList& list);

/// Versions of the weights that a stage keeps; 1 where nothing is updated in flight.
int weight_versions(const CaseSpec& spec, int stage);
/// The fewest micro-batches (of a batch) with which a schedule has its order.
int least_micro_batches(const CaseSpec& spec);

}  // namespace meshparity::expect
