#include "matrix/checks/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "matrix/checks/call_order.hpp"
#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/groups.hpp"
#include "matrix/expect/schedule.hpp"
#include "matrix/expect/traffic.hpp"

namespace meshparity {
namespace {

constexpr const char* kCheck = "collectives";

using Rows = std::vector<CollectiveRow>;
using ByRank = std::map<int, Rows>;
using ByStep = std::map<int, Rows>;

ByStep steps_of(const Rows& rows) {
  ByStep steps;
  for (const CollectiveRow& row : rows) {
    steps[row.step].push_back(row);
  }
  return steps;
}

class LedgerComparison {
 public:
  LedgerComparison(const JudgeContext& context, CheckResult& result)
      : context_(context), spec_(context.evidence.spec), result_(result) {
    for (const auto& [rank, reader] : context.candidate.readers()) {
      Rows& rows = by_rank_[rank] = reader.ledgers().collectives;
      name_axes(rows);
      result_.compared += static_cast<std::int64_t>(rows.size());
      all_.insert(all_.end(), rows.begin(), rows.end());
    }
    result_.traffic = expect::traffic_of(all_);
  }

  void check() {
    if (all_.empty() && is_foreign()) {
      result_.notes.push_back("not compared: the dump has no ledger of collectives");
      return;
    }
    if (const auto why = why_not_expected()) {
      result_.notes.push_back(fmt::format("what was due is not compared: {}", *why));
    } else {
      compare_with_due();
    }
    compare_in_groups();
    std::stable_sort(result_.findings.begin(), result_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.step < b.step; });
  }

 private:
  bool is_foreign() const {
    const auto& readers = context_.candidate.readers();
    return !readers.empty() && readers.begin()->second.header().foreign;
  }

  std::optional<std::string> why_not_expected() const {
    if (is_foreign()) {
      return "the candidate is of another house, whose calls may be others";
    }
    if (context_.evidence.model.name.empty()) {
      return "the model's spec is not at hand";
    }
    return expect::why_no_calls(spec_);
  }

  /// A group along an axis of one rank is the same group without it.
  void name_axes(Rows& rows) const {
    for (CollectiveRow& row : rows) {
      row.axis = expect::axes_that_cut(spec_, row.axis);
    }
  }

  void compare_with_due() {
    const expect::Layout layout{spec_, context_.evidence.model};
    for (const auto& [rank, done] : by_rank_) {
      if (rank < expect::world_of(spec_.mesh)) {
        const Level level = context_.candidate.readers().at(rank).header().level;
        const Rows due = expect::calls_of(layout, level, rank);
        if (expect::is_stream(spec_.schedule)) {
          compare_calls(rank, due, done, 0);
        } else {
          compare_steps(rank, steps_of(due), steps_of(done));
        }
      }
    }
  }

  void compare_calls(int rank, const Rows& due, const Rows& done, std::int64_t before) {
    if (const auto fault = first_call_fault(due, done, before)) {
      add(rank, fault->step, fault->mb, fmt::format("number {}: {}", fault->sequence, fault->text));
    }
  }

  void compare_steps(int rank, ByStep due, ByStep done) {
    std::set<int> steps;
    for (const ByStep* each : {&due, &done}) {
      for (const auto& [step, rows] : *each) {
        steps.insert(step);
      }
    }
    std::int64_t before = 0;
    for (const int step : steps) {
      compare_calls(rank, due[step], done[step], before);
      before = done[step].empty() ? before : done[step].back().sequence;
    }
  }

  /// Calls of each set of ranks, by rank and step. Messages are between two ranks with two roles:
  /// their order is a matter of the schedule.
  void compare_in_groups() {
    std::map<std::vector<int>, std::map<int, ByStep>> groups;
    for (const auto& [rank, rows] : by_rank_) {
      for (const CollectiveRow& row : rows) {
        std::vector<int> members = expect::ranks_in(row.group);
        std::sort(members.begin(), members.end());
        if (!std::binary_search(members.begin(), members.end(), rank)) {
          add(rank, row.step, row.mb,
              fmt::format("number {}: {}, which is not of that group", row.sequence,
                          expect::call_text(row)));
        } else if (row.kind != "send" && row.kind != "receive") {
          groups[members][rank][row.step].push_back(row);
        }
      }
    }
    for (auto& [members, calls] : groups) {
      compare_group(members, calls);
    }
  }

  void compare_group(const std::vector<int>& members, std::map<int, ByStep>& calls) {
    std::set<int> steps;
    for (const auto& [rank, of_rank] : calls) {
      for (const auto& [step, rows] : of_rank) {
        steps.insert(step);
      }
    }
    for (const int step : steps) {
      for (const int other : members) {
        if (by_rank_.contains(other) && disagree(members, other, step, calls)) {
          break;
        }
      }
    }
  }

  /// With the first member that has a ledger.
  bool disagree(const std::vector<int>& members, int other, int step,
                std::map<int, ByStep>& calls) {
    const int first = *std::find_if(members.begin(), members.end(),
                                    [&](int rank) { return by_rank_.contains(rank); });
    const auto fault = first_group_fault(calls[first][step], calls[other][step]);
    if (!fault) {
      return false;
    }
    Finding& finding =
        add(other, step, -1,
            fmt::format("call {} of this step in group {}: {} did {}; {} did {}", fault->call + 1,
                        fmt::join(members, " "), rank_text(spec_, first), fault->mine,
                        rank_text(spec_, other), fault->theirs));
    explain(finding, members);
    return true;
  }

  /// By what one of the ranks did otherwise than was due in the same step.
  void explain(Finding& finding, const std::vector<int>& members) {
    for (const Finding& earlier : result_.findings) {
      if (&earlier != &finding && earlier.step == finding.step &&
          std::find(members.begin(), members.end(), earlier.rank) != members.end()) {
        finding.follows_from =
            fmt::format("{} of {} step {}", kCheck, rank_text(spec_, earlier.rank), earlier.step);
        return;
      }
    }
  }

  Finding& add(int rank, int step, int mb, std::string text) {
    Finding& finding = result_.findings.emplace_back();
    finding.check = kCheck;
    finding.step = step;
    finding.mb = mb;
    finding.rank = rank;
    finding.coordinate = rank < expect::world_of(spec_.mesh) ? expect::place_text(spec_, rank) : "";
    finding.text = std::move(text);
    return finding;
  }

  const JudgeContext& context_;
  const CaseSpec& spec_;
  CheckResult& result_;
  ByRank by_rank_;
  Rows all_;
};

}  // namespace

void check_collectives(const JudgeContext& context, CheckResult& result) {
  LedgerComparison(context, result).check();
}

}  // namespace meshparity
