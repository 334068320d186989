// A pipeline before anything runs: what each stage does when, on the logical clock, its bubble and
// what is in flight. From matrix/expect alone.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "matrix/expect/schedule_figures.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity {

struct StageView {
  std::vector<int> chunks;
  std::vector<int> pieces;  // 0 the embedding, then the blocks, last the head
  std::vector<expect::TimedAction> actions;
  expect::InFlight in_flight;  // (chunk, micro-batch) pairs
  int weight_versions = 1;
};

struct ScheduleView {
  std::string name;  // "1f1b", "int2"
  int micro_batches = 1;
  int chunks_per_stage = 1;
  bool split = false;   // B and W apart
  bool stream = false;  // over the whole run
  std::vector<StageView> stages;
  expect::Bubble bubble;  // by formula; of a stream as played, filling and draining
  std::string barrier;    // what makes all stages wait before the update; empty: nothing to say
};

/// Nothing where there is no pipeline.
std::optional<ScheduleView> schedule_view(const expect::Layout& layout);

/// Among others a row of time a stage, none longer than `columns`; what is cut off is said.
std::string schedule_text(const ScheduleView& view, std::size_t columns);

}  // namespace meshparity
