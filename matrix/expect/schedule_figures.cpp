#include "matrix/expect/schedule_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "matrix/expect/schedule_memory.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

/// First start and last end of work; {0, 0} where there is none.
std::pair<std::int64_t, std::int64_t> extent_of(const std::vector<TimedAction>& actions) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const TimedAction& each : actions) {
    if (is_work(each.action.kind)) {
      start = std::min(start, each.start);
      end = std::max(end, each.end);
    }
  }
  return {std::min(start, end), end};
}

int stages(const CaseSpec& spec) {
  return spec.mesh.degree(Axis::pp);
}

bool is_shifted(Schedule schedule) {
  return schedule == Schedule::zbh2 || schedule == Schedule::zbv;
}

bool all_equal(const WorkTime& time) {
  return time.forward == time.backward && time.forward == time.weights;
}

/// Of a stage and micro-batch, over its chunks.
std::int64_t tau(const CaseSpec& spec, const WorkTime& time) {
  const std::int64_t chunk =
      time.forward + time.backward + (is_split(spec.schedule) ? time.weights : 0);
  return chunk * chunks_per_stage(spec);
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What the bubble adds to m tau.
std::int64_t bubble_time(const CaseSpec& spec, const WorkTime& time) {
  const std::int64_t others = stages(spec) - 1;
  switch (spec.schedule) {
    case Schedule::none:
      return 0;
    case Schedule::naive:
      return others * spec.micro_batches * tau(spec, time);
    case Schedule::zbh1:
      return others * (time.forward + time.backward - time.weights);
    case Schedule::zbh2:
      return others * (time.forward + time.backward - 2 * time.weights);
    case Schedule::zbv:
      return 0;
    default:
      return others * tau(spec, time) / chunks_per_stage(spec);
  }
}

}  // namespace

std::int64_t span_of(const std::vector<TimedAction>& stage) {
  const auto [start, end] = extent_of(stage);
  return end - start;
}

std::int64_t makespan_of(const Played& played) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
  for (const std::vector<TimedAction>& stage : played.stages) {
    const auto [start, end] = extent_of(stage);
    first = std::min(first, start);
    last = std::max(last, end);
  }
  return last - std::min(first, last);
}

double Bubble::share_of_makespan() const {
  return ratio(time(), makespan);
}

double Bubble::share_of_ideal() const {
  return ratio(time(), busy);
}

std::string bubble_text(const Bubble& bubble) {
  return fmt::format(
      "bubble {} of {} units{}: {:.1f} % of the whole time (beta_tot), {:.1f} % of the ideal time "
      "(beta_id)",
      bubble.time(), bubble.makespan,
      bubble.by_span ? " of the longest stage (they are shifted)" : "",
      100 * bubble.share_of_makespan(), 100 * bubble.share_of_ideal());
}

std::optional<Bubble> bubble_due(const CaseSpec& spec, const WorkTime& time) {
  if (is_split(spec.schedule) && !all_equal(time)) {
    return std::nullopt;
  }
  Bubble bubble;
  bubble.by_span = is_shifted(spec.schedule);
  bubble.busy = micro_batches_of_list(spec) * tau(spec, time);
  bubble.span = bubble.busy + bubble_time(spec, time);
  const std::int64_t skew = bubble.by_span ? (stages(spec) - 1) * time.forward : 0;
  bubble.makespan = bubble.span + skew;
  return bubble;
}

Bubble bubble_of(const CaseSpec& spec, const Played& played) {
  Bubble bubble;
  bubble.by_span = is_shifted(spec.schedule);
  for (const TimedAction& each : played.stages.at(0)) {
    bubble.busy += each.end - each.start;
  }
  for (const std::vector<TimedAction>& stage : played.stages) {
    bubble.span = std::max(bubble.span, span_of(stage));
  }
  bubble.makespan = makespan_of(played);
  return bubble;
}

InFlight in_flight_due(const CaseSpec& spec, int stage) {
  const int p = stages(spec);
  const int m = micro_batches_of_list(spec);
  const int v = chunks_per_stage(spec);
  switch (spec.schedule) {
    case Schedule::none:
    case Schedule::naive:
      return {1, 1};
    case Schedule::gpipe:
      return {m, m};
    case Schedule::interleaved: {
      const int most = std::min(2 * (p - 1 - stage) + (v - 1) * p + 1, m * v);
      return {most, most};
    }
    case Schedule::zbh1:
      return {p - stage, p};
    case Schedule::zbh2:
      return {2 * p - 1 - 2 * stage, 2 * p - 1};
    case Schedule::zbv:
      return {2 * p, 2 * p};
    default:
      return {std::min(p - stage, m), std::min(p - stage, m)};
  }
}

InFlight in_flight_of(const CaseSpec& spec, const ActionList& list) {
  const std::vector<std::int64_t> one(static_cast<std::size_t>(chunk_count(spec)), 1);
  const ActionKind last = is_split(spec.schedule) ? ActionKind::weights : ActionKind::backward;
  const auto peak = [&](ActionKind until) {
    return static_cast<int>(peak_held(list, {{ActionKind::forward, until, one}}));
  };
  return {peak(ActionKind::backward), peak(last)};
}

int weight_versions(const CaseSpec& spec, int stage) {
  switch (spec.schedule) {
    case Schedule::pipedream:
      return stages(spec) - stage;
    case Schedule::pipedream_vsync:
      return stages(spec);
    case Schedule::pipedream_2bw:
      return 2;
    default:
      return 1;
  }
}

int least_micro_batches(const CaseSpec& spec) {
  const int p = stages(spec);
  switch (spec.schedule) {
    case Schedule::interleaved:
    case Schedule::zbh1:
    case Schedule::pipedream_2bw:
      return p;
    case Schedule::zbh2:
    case Schedule::zbv:
      return 2 * p - 1;
    case Schedule::pipedream:
    case Schedule::pipedream_vsync:
      return p + 2;
    default:
      return 1;
  }
}

}  // namespace meshparity::expect
