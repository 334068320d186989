#include "matrix/checks/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "fixtures/loss_scaling.hpp"
#include "matrix/checks/action_order.hpp"
#include "matrix/checks/executed_actions.hpp"
#include "matrix/checks/message_calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/groups.hpp"
#include "matrix/expect/schedule_figures.hpp"

namespace meshparity {
namespace {

constexpr const char* kCheck = "schedule";

/// The ranks of one pipeline and one list of each: of a step, or of a run that is never flushed.
struct Pipeline {
  std::vector<int> ranks;                    // by stage
  std::vector<const ExecutedActions*> done;  // null: that rank has no such list
  int step = 0;

  bool is_whole() const {
    return std::all_of(done.begin(), done.end(), [](const ExecutedActions* each) {
      return each != nullptr && each->is_playable;
    });
  }
  std::vector<expect::ActionList> lists() const {
    std::vector<expect::ActionList> lists;
    for (const ExecutedActions* each : done) {
      lists.push_back(each->list);
    }
    return lists;
  }
};

class ScheduleComparison {
 public:
  ScheduleComparison(const JudgeContext& context, CheckResult& result)
      : context_(context), spec_(context.evidence.spec), result_(result) {}

  void check() {
    for (const auto& [rank, reader] : context_.candidate.readers()) {
      if (rank < expect::world_of(spec_.mesh)) {
        Ledgers ledgers = reader.ledgers();
        result_.compared += static_cast<std::int64_t>(ledgers.actions.size());
        lists_[rank] = executed_lists(spec_, ledgers.actions);
        collectives_[rank] = std::move(ledgers.collectives);
      }
    }
    if (const auto why = why_not_compared()) {
      result_.notes.push_back("not compared: " + *why);
      return;
    }
    due_ = expect::actions_due(spec_);
    for (const expect::Group& group : expect::all_groups(spec_, std::array{Axis::pp})) {
      check_pipeline(group.ranks);
    }
    std::stable_sort(result_.findings.begin(), result_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.step < b.step; });
    add_figures();
  }

 private:
  std::optional<std::string> why_not_compared() const {
    const bool foreign = !context_.candidate.readers().empty() &&
                         context_.candidate.readers().begin()->second.header().foreign;
    if (result_.compared == 0 && (foreign || spec_.mesh.degree(Axis::pp) == 1)) {
      return "the dump has no ledger of actions";
    }
    if (foreign) {
      return "the candidate is of another house, whose schedule may be another";
    }
    const bool interrupted =
        std::any_of(spec_.events.begin(), spec_.events.end(), [](const Event& event) {
          return event.kind != Event::Kind::probe && event.kind != Event::Kind::fault;
        });
    return interrupted ? std::optional<std::string>("the run was interrupted") : std::nullopt;
  }

  void check_pipeline(const std::vector<int>& ranks) {
    std::size_t count =
        static_cast<std::size_t>(expect::is_stream(spec_.schedule) ? 1 : spec_.steps);
    for (const int rank : ranks) {
      if (lists_.contains(rank)) {
        check_count(rank, count);
        count = std::max(count, lists_[rank].size());
      }
    }
    for (std::size_t step = 0; step < count; ++step) {
      Pipeline pipeline{ranks, {}, static_cast<int>(step)};
      for (const int rank : ranks) {
        const bool has = lists_.contains(rank) && step < lists_[rank].size();
        pipeline.done.push_back(has ? &lists_[rank][step] : nullptr);
      }
      cause_.clear();
      check_orders(pipeline);
      if (pipeline.is_whole()) {
        check_meetings(pipeline);
        check_clocks(pipeline);
        check_bubble(pipeline);
      }
    }
  }

  void check_count(int rank, std::size_t due) {
    const std::size_t done = lists_[rank].size();
    if (done != due) {
      add(rank, static_cast<int>(std::min(done, due)), -1,
          fmt::format("{} lists that end with a step were due, the ledger has {}", due, done));
    }
  }

  /// What one rank did against what it was due to do; the first fault of each.
  void check_orders(const Pipeline& pipeline) {
    for (std::size_t stage = 0; stage < pipeline.ranks.size(); ++stage) {
      if (pipeline.done[stage] == nullptr) {
        continue;
      }
      const ExecutedActions& done = *pipeline.done[stage];
      std::optional<ActionFault> fault = done.fault;
      if (!fault) {
        fault = first_work_fault(due_in_step(stage, pipeline.step), done.list);
      }
      if (!fault) {
        fault = first_message_fault(spec_, due_[stage], done.list);
      }
      if (!fault) {
        fault = first_call_fault(done.list, calls_of_list(pipeline.ranks[stage], pipeline.step));
      }
      if (fault) {
        add_at(pipeline, stage, *fault);
        cause_ = cause_.empty() ? place_text(pipeline, stage) : cause_;
      } else {
        check_in_flight(pipeline, stage);
      }
    }
  }

  /// All weights of a step are those of the updates that were taken before.
  expect::ActionList due_in_step(std::size_t stage, int step) const {
    int updates = 0;
    for (int earlier = 0; earlier < step; ++earlier) {
      updates += is_skipped(spec_, earlier) ? 0 : 1;
    }
    expect::ActionList list = due_[stage];
    for (expect::Action& action : list) {
      action.version += expect::is_work(action.kind) ? updates : 0;
    }
    return list;
  }

  /// Micro-batches counted as the list counts them: through the step, or through the run.
  std::vector<CollectiveRow> calls_of_list(int rank, int step) const {
    std::vector<CollectiveRow> calls;
    for (CollectiveRow row : collectives_.at(rank)) {
      if (expect::is_stream(spec_.schedule)) {
        row.mb += row.step * expect::micro_batches_of_step(spec_);
        calls.push_back(std::move(row));
      } else if (row.step == step) {
        calls.push_back(std::move(row));
      }
    }
    return calls;
  }

  void check_in_flight(const Pipeline& pipeline, std::size_t stage) {
    const expect::InFlight done = expect::in_flight_of(spec_, pipeline.done[stage]->list);
    const expect::InFlight due = expect::in_flight_due(spec_, static_cast<int>(stage));
    if (!(done == due)) {
      add(pipeline.ranks[stage], pipeline.step, -1,
          fmt::format("at most {} micro-batches in flight up to B and {} up to W, {} and {} were "
                      "due",
                      done.inputs, done.weights, due.inputs, due.weights));
    }
  }

  /// Sends meet their receives, even if every send waited for its receiver.
  void check_meetings(const Pipeline& pipeline) {
    const expect::Played played =
        expect::play(spec_, pipeline.lists(), durations(), expect::Transport::rendezvous);
    if (played.stuck) {
      const expect::Waiting& first = played.stuck->chain.front();
      const ActionFault fault{first.position, first.at.mb,
                              fmt::format("{}: {}",
                                          played.stuck->is_cycle ? "deadlock if sends wait"
                                                                 : "a message has no partner",
                                          expect::stuck_text(*played.stuck))};
      add_following(pipeline, static_cast<std::size_t>(first.stage), fault);
    }
  }

  /// The ledger's clock against the simulator's, playing what was done.
  void check_clocks(const Pipeline& pipeline) {
    const expect::Played played =
        expect::play(spec_, pipeline.lists(), durations(), expect::Transport::buffered);
    for (std::size_t stage = 0; stage < pipeline.ranks.size(); ++stage) {
      const std::vector<expect::TimedAction>& due = played.stages[stage];
      const std::vector<expect::TimedAction>& done = pipeline.done[stage]->timed;
      const auto [want, have] = std::mismatch(due.begin(), due.end(), done.begin());
      if (want != due.end()) {
        const auto position = static_cast<std::size_t>(want - due.begin());
        const std::string text = fmt::format("{}: logical clock {} to {}, {} to {} was due",
                                             expect::action_text(have->action), have->start,
                                             have->end, want->start, want->end);
        add_following(pipeline, stage, {position, have->action.mb, text});
      }
    }
  }

  void check_bubble(const Pipeline& pipeline) {
    const auto due = expect::bubble_due(spec_, durations().stages.front());
    expect::Played done;
    for (const ExecutedActions* each : pipeline.done) {
      done.stages.push_back(each->timed);
    }
    const expect::Bubble bubble = expect::bubble_of(spec_, done);
    if (due && !(bubble == *due)) {
      Finding& finding =
          add(pipeline.ranks.front(), pipeline.step, -1,
              fmt::format("bubble: {} of {} units of the pipeline's clock, {} of {} were due",
                          bubble.time(), bubble.makespan, due->time(), due->makespan));
      finding.follows_from = cause_;
    }
  }

  void add_figures() {
    const auto bubble = expect::bubble_due(spec_, durations().stages.front());
    if (bubble && result_.findings.empty() && spec_.mesh.degree(Axis::pp) > 1) {
      result_.notes.push_back(expect::bubble_text(*bubble));
    }
  }

  expect::Durations durations() const { return expect::logical_durations(spec_); }

  std::string place_text(const Pipeline& pipeline, std::size_t stage) const {
    return fmt::format("{} {} step {}", kCheck, rank_text(spec_, pipeline.ranks[stage]),
                       pipeline.step);
  }

  Finding& add_at(const Pipeline& pipeline, std::size_t stage, const ActionFault& fault) {
    int step = pipeline.step, mb = fault.mb;
    if (expect::is_stream(spec_.schedule) && mb >= 0) {  // a list of the run, its text too
      step = mb / expect::micro_batches_of_step(spec_);
      mb %= expect::micro_batches_of_step(spec_);
    }
    return add(pipeline.ranks[stage], step, mb,
               fmt::format("action {}: {}", fault.position + 1, fault.text));
  }

  /// Explained by the first fault of an order in the same pipeline and step, if there is one.
  void add_following(const Pipeline& pipeline, std::size_t stage, const ActionFault& fault) {
    add_at(pipeline, stage, fault).follows_from = cause_;
    cause_ = cause_.empty() ? place_text(pipeline, stage) : cause_;
  }

  Finding& add(int rank, int step, int mb, std::string text) {
    Finding& finding = result_.findings.emplace_back();
    finding.check = kCheck;
    finding.step = step;
    finding.mb = mb;
    finding.rank = rank;
    finding.coordinate = expect::place_text(spec_, rank);
    finding.text = std::move(text);
    return finding;
  }

  const JudgeContext& context_;
  const CaseSpec& spec_;
  CheckResult& result_;
  std::map<int, std::vector<ExecutedActions>> lists_;  // by rank
  std::map<int, std::vector<CollectiveRow>> collectives_;
  std::vector<expect::ActionList> due_;  // by stage
  std::string cause_;                    // of the pipeline and step looked at; empty: none yet
};

}  // namespace

void check_schedule(const JudgeContext& context, CheckResult& result) {
  ScheduleComparison(context, result).check();
}

}  // namespace meshparity
