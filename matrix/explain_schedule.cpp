#include "matrix/explain_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/compound_features.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kShown = 16;   // stages that are shown
constexpr std::size_t kParts = 8;    // of a timeline, below each other
constexpr std::size_t kMargin = 13;  // "  stage 12 | "

/// The sums over all stages between the last gradient and the update.
std::string barrier_text(const CaseSpec& spec) {
  if (!expect::is_split(spec.schedule)) {
    return {};
  }
  const bool clips = spec.clip != ClipMode::off;
  std::string cause = clips ? "the clip norm" : "";
  if (spec.loss_scaling) {
    cause +=
        clips ? " and the check for non-finite gradients" : "the check for non-finite gradients";
  }
  if (cause.empty()) {
    return {};
  }
  return fmt::format(
      "{} {} over all stages before any updates: the barrier that zero bubble takes away is back, "
      "and each step ends when its last stage does",
      cause, clips && spec.loss_scaling ? "sum" : "sums");
}

/// By formula, or as played where there is none.
expect::Bubble bubble_shown(const CaseSpec& spec, const expect::Played& played) {
  const auto formula = expect::bubble_due(spec, expect::logical_durations(spec).stages.front());
  return formula ? *formula : expect::bubble_of(spec, played);
}

class TimeRows {
 public:
  TimeRows(const ScheduleView& view, std::size_t columns) : view_(view) {
    for (const StageView& stage : view.stages) {
      for (const expect::TimedAction& each : stage.actions) {
        const bool shown = expect::is_work(each.action.kind);
        width_ = std::max(width_, shown ? label(stage, each.action).size() + 1 : 1);
        units_ = std::max(units_, static_cast<std::size_t>(each.end));
      }
    }
    const std::size_t room = columns > kMargin ? columns - kMargin : 0;
    shown_ = std::min(units_, std::max<std::size_t>(1, room / width_));
  }

  std::string text() const {
    std::string text;
    const std::size_t end = std::min(units_, kParts * shown_);
    for (std::size_t first = 0; first < end; first += shown_) {
      text += end <= shown_
                  ? ""
                  : fmt::format("  units {} to {}\n", first, std::min(first + shown_, units_));
      text += part(first);
    }
    if (view_.stages.size() > kShown) {
      text += fmt::format("  and {} stages more (--json has all)\n", view_.stages.size() - kShown);
    }
    if (end < units_) {
      text += fmt::format("  cut behind {} of {} units (--json has all)\n", end, units_);
    }
    return text;
  }

 private:
  /// Units from `first` on, as many as the page is wide.
  std::string part(std::size_t first) const {
    std::string text;
    for (std::size_t stage = 0; stage < view_.stages.size() && stage < kShown; ++stage) {
      const std::string all = row(view_.stages[stage]);
      std::string shown = all.substr(std::min(all.size(), first * width_), shown_ * width_);
      shown.erase(shown.find_last_not_of(' ') + 1);
      text += fmt::format("  stage {:<2} | {}\n", stage, shown);
    }
    return text;
  }

  /// "F3", with several chunks a stage "F3a", a being the stage's first.
  std::string label(const StageView& stage, const expect::Action& action) const {
    const auto place =
        std::find(stage.chunks.begin(), stage.chunks.end(), action.chunk) - stage.chunks.begin();
    const std::string letter =
        stage.chunks.size() > 1 ? std::string(1, static_cast<char>('a' + place % 26)) : "";
    return fmt::format("{}{}{}", expect::action_word(action.kind), action.mb, letter);
  }

  /// A dot where the stage has nothing to do; dashes where its action goes on.
  std::string row(const StageView& stage) const {
    std::string row;
    for (std::size_t unit = 0; unit < units_; ++unit) {
      row += fmt::format("{:<{}}", ".", width_);
    }
    for (const expect::TimedAction& each : stage.actions) {
      if (!expect::is_work(each.action.kind)) {
        continue;
      }
      const std::size_t begin = static_cast<std::size_t>(each.start) * width_;
      const std::size_t length = static_cast<std::size_t>(each.end - each.start) * width_ - 1;
      const std::string cell = fmt::format("{:-<{}}", label(stage, each.action), length);
      for (std::size_t i = 0; i < cell.size() && begin + i < row.size(); ++i) {
        row[begin + i] = cell[i];
      }
    }
    return row;
  }

  const ScheduleView& view_;
  std::size_t width_ = 1;  // of a unit of time
  std::size_t units_ = 0;
  std::size_t shown_ = 0;
};

/// "embedding, blocks 0-2, head"
std::string pieces_text(const std::vector<int>& pieces, int last) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i + 1;
    const bool block = pieces[i] > 0 && pieces[i] < last;
    while (block && end < pieces.size() && pieces[end] == pieces[end - 1] + 1 &&
           pieces[end] < last) {
      ++end;
    }
    text += text.empty() ? "" : ", ";
    if (!block) {
      text += pieces[i] == 0 ? "embedding" : "head";
    } else if (end == i + 1) {
      text += fmt::format("block {}", pieces[i] - 1);
    } else {
      text += fmt::format("blocks {}-{}", pieces[i] - 1, pieces[end - 1] - 1);
    }
    i = end;
  }
  return text;
}

std::string in_flight_text(const ScheduleView& view) {
  std::string text = fmt::format("  in flight at most, in activations of a whole stage{}\n",
                                 view.split ? " up to B, and up to W" : "");
  int last = 0;
  for (const StageView& stage : view.stages) {
    last = std::max(last, stage.pieces.empty()
                              ? 0
                              : *std::max_element(stage.pieces.begin(), stage.pieces.end()));
  }
  const double whole = view.chunks_per_stage;
  for (std::size_t i = 0; i < view.stages.size() && i < kShown; ++i) {
    const StageView& stage = view.stages[i];
    text += fmt::format("  stage {:<2} | {:<5}", i, stage.in_flight.inputs / whole);
    text += view.split ? fmt::format(" {:<5}", stage.in_flight.weights / whole) : "";
    text += fmt::format(" chunks {}: {}", fmt::join(stage.chunks, " "),
                        pieces_text(stage.pieces, last));
    text += stage.weight_versions > 1
                ? fmt::format("; keeps {} versions of its weights\n", stage.weight_versions)
                : "\n";
  }
  return text;
}

}  // namespace

std::optional<ScheduleView> schedule_view(const expect::Layout& layout) {
  const CaseSpec& spec = layout.spec;
  if (spec.mesh.degree(Axis::pp) == 1) {
    return std::nullopt;
  }
  const expect::Played played =
      expect::play(spec, expect::actions_due(spec), expect::logical_durations(spec),
                   expect::Transport::buffered);
  ScheduleView view;
  view.name = write_schedule(spec);
  view.micro_batches = expect::micro_batches_of_list(spec);
  view.chunks_per_stage = expect::chunks_per_stage(spec);
  view.split = expect::is_split(spec.schedule);
  view.stream = expect::is_stream(spec.schedule);
  for (int stage = 0; stage < spec.mesh.degree(Axis::pp); ++stage) {
    view.stages.push_back(
        {expect::chunks_of_stage(spec, stage), expect::pieces_of_stage(layout, stage),
         played.stages[static_cast<std::size_t>(stage)], expect::in_flight_due(spec, stage),
         expect::weight_versions(spec, stage)});
  }
  view.bubble = bubble_shown(spec, played);
  view.barrier = barrier_text(spec);
  return view;
}

std::string schedule_text(const ScheduleView& view, std::size_t columns) {
  std::string text = fmt::format(
      "\nschedule {}: {} stages, {} chunk{} each, {} micro-batches{}; F takes 1 unit, B {}{}\n",
      view.name, view.stages.size(), view.chunks_per_stage, view.chunks_per_stage == 1 ? "" : "s",
      view.micro_batches, view.stream ? " in the run" : "", view.split ? 1 : 2,
      view.split ? ", W 1" : "");
  text += TimeRows(view, columns).text();
  text += fmt::format("  {}{}\n", expect::bubble_text(view.bubble),
                      view.stream ? ", filling and draining once in the run" : "");
  text += in_flight_text(view);
  return view.barrier.empty() ? text : text + "  " + view.barrier + "\n";
}

}  // namespace meshparity
