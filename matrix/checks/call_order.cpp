#include "matrix/checks/call_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "matrix/expect/calls.hpp"

namespace meshparity {
namespace {

using Rows = std::span<const CollectiveRow>;

bool same_site(const CollectiveRow& a, const CollectiveRow& b) {
  return std::tie(a.site, a.phase, a.step, a.mb) == std::tie(b.site, b.phase, b.step, b.mb);
}

bool same_call(const CollectiveRow& a, const CollectiveRow& b) {
  return same_site(a, b) && std::tie(a.kind, a.axis, a.group, a.count, a.type, a.bytes) ==
                                std::tie(b.kind, b.axis, b.group, b.count, b.type, b.bytes);
}

bool holds(Rows rows, const CollectiveRow& call) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CollectiveRow& row) { return same_call(row, call); });
}

Rows from(Rows rows, std::size_t at) {
  return rows.subspan(std::min(at, rows.size()));
}

enum class How { left_out, twice, not_due, other_shape, out_of_order, another };

/// The calls differ at place `at`, or one list ends there. Calls of several parameters may look
/// alike, so a list that is too short or too long says more than the two calls do.
How how_at(Rows due, Rows done, std::size_t at) {
  const Rows due_rest = from(due, at);
  const Rows done_rest = from(done, at);
  if (done_rest.empty() || (done.size() < due.size() && holds(due_rest, done_rest[0]))) {
    return How::left_out;
  }
  if (due_rest.empty() || (done.size() > due.size() && holds(done_rest, due_rest[0]))) {
    return at > 0 && same_call(done[at], done[at - 1]) ? How::twice : How::not_due;
  }
  if (same_site(due[at], done[at])) {
    return How::other_shape;
  }
  return holds(done_rest, due_rest[0]) ? How::out_of_order : How::another;
}

std::string_view how_text(How how) {
  switch (how) {
    case How::left_out:
      return "left out";
    case How::twice:
      return "done twice";
    case How::not_due:
      return "not due here";
    case How::other_shape:
      return "another group, kind or size";
    case How::out_of_order:
      return "out of order";
    case How::another:
      return "another call";
  }
  return "?";
}

std::string call_at(Rows rows, std::size_t at) {
  return at < rows.size() ? fmt::format("{}, {} bytes", expect::call_text(rows[at]), rows[at].bytes)
                          : "nothing more in this step";
}

CallFault fault_at(Rows due, Rows done, std::size_t at) {
  const How how = how_at(due, done, at);
  const CollectiveRow& about = how == How::twice || how == How::not_due ? done[at] : due[at];
  CallFault fault;
  fault.site = about.site;
  fault.step = about.step;
  fault.mb = about.mb;
  const bool other_step = at < due.size() && at < done.size() && due[at].step != done[at].step;
  fault.text =
      fmt::format("{} {}: expected {}; did {}{}", about.site, how_text(how), call_at(due, at),
                  call_at(done, at), other_step ? fmt::format(" of step {}", done[at].step) : "");
  return fault;
}

/// What all ranks of a group must agree on; in an all-to-all each sends as much as it has.
bool agree(const CollectiveRow& a, const CollectiveRow& b) {
  const bool same_size = a.kind == "all_to_all" || (a.count == b.count && a.bytes == b.bytes);
  return same_site(a, b) && same_size &&
         std::tie(a.kind, a.group, a.type) == std::tie(b.kind, b.group, b.type);
}

}  // namespace

std::optional<CallFault> first_call_fault(Rows due, Rows done, std::int64_t sequence_before) {
  for (std::size_t at = 0; at < std::max(due.size(), done.size()); ++at) {
    const auto number = sequence_before + static_cast<std::int64_t>(at) + 1;
    if (at >= due.size() || at >= done.size() || !same_call(due[at], done[at])) {
      CallFault fault = fault_at(due, done, at);
      fault.sequence = number;
      return fault;
    }
    if (done[at].sequence != number) {
      return CallFault{number, done[at].step, done[at].mb, done[at].site,
                       fmt::format("{} has number {} in the ledger: it lost or repeats a call",
                                   done[at].site, done[at].sequence)};
    }
  }
  return std::nullopt;
}

std::optional<GroupFault> first_group_fault(Rows mine, Rows theirs) {
  for (std::size_t at = 0; at < std::max(mine.size(), theirs.size()); ++at) {
    if (at >= mine.size() || at >= theirs.size() || !agree(mine[at], theirs[at])) {
      const auto text = [at](Rows rows) {
        return at < rows.size()
                   ? fmt::format("{}, its number {}", call_at(rows, at), rows[at].sequence)
                   : call_at(rows, at);
      };
      return GroupFault{at, text(mine), text(theirs)};
    }
  }
  return std::nullopt;
}

}  // namespace meshparity
