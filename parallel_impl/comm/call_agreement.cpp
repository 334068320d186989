#include "parallel_impl/comm/call_agreement.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

bool counts_agree(const Entry& a, const Entry& b) {
  return a.request->kind == CollectiveKind::all_to_all || a.row->count == b.row->count;
}

bool parts_agree(const Entry& a, const Entry& b) {
  return a.request->kind == CollectiveKind::all_to_all ||
         a.request->output_parts == b.request->output_parts;
}

bool roots_agree(const Entry& a, const Entry& b) {
  return a.request->kind != CollectiveKind::broadcast || a.request->peer == b.request->peer;
}

// What differs between two calls that should be one; empty when nothing does.
std::string_view first_difference(const Entry& a, const Entry& b) {
  if (a.row->kind != b.row->kind) {
    return "kind";
  }
  if (a.row->site != b.row->site) {
    return "site";
  }
  if (a.row->step != b.row->step || a.row->mb != b.row->mb) {
    return "step or micro-batch";
  }
  if (a.row->axis != b.row->axis || a.row->group != b.row->group) {
    return "group";
  }
  if (a.row->type != b.row->type) {
    return "element type";
  }
  if (!counts_agree(a, b)) {
    return "count";
  }
  if (!parts_agree(a, b)) {
    return "parts";
  }
  if (!roots_agree(a, b)) {
    return "root";
  }
  return a.request->op == b.request->op ? "" : "operation";
}

bool same_place(const Site& a, const Site& b) {
  return a.role == b.role && a.phase == b.phase && a.step == b.step && a.mb == b.mb;
}

}  // namespace

int world_rank(const Entry& entry) {
  return entry.request->group.ranks[static_cast<std::size_t>(entry.request->group.index)];
}

std::string describe_difference(const WorldState& state, const Entry& mine, const Entry& other) {
  const std::string_view difference = first_difference(mine, other);
  return difference.empty()
             ? ""
             : fmt::format("{} entered {}, but {} is in {}: they differ in {}",
                           state.name(world_rank(mine)), describe_call(*mine.row),
                           state.name(world_rank(other)), describe_call(*other.row), difference);
}

std::string describe_unlike_parts(const WorldState& state, const Entry& mine,
                                  const std::vector<Entry>& all) {
  for (std::size_t to = 0; to < all.size(); ++to) {
    for (std::size_t from = 0; from < all.size(); ++from) {
      const std::int64_t sent = all[from].request->input_parts[to];
      const std::int64_t awaited = all[to].request->output_parts[from];
      if (sent != awaited) {
        return fmt::format("{}: {} sends {} elements to {}, which awaits {}",
                           describe_call(*mine.row), state.name(world_rank(all[from])), sent,
                           state.name(world_rank(all[to])), awaited);
      }
    }
  }
  return "";
}

std::string describe_wrong_message(const WorldState& state, const Entry& receive,
                                   const Entry& sent) {
  const bool fits = sent.row->count == receive.row->count && sent.row->type == receive.row->type;
  return fits && same_place(sent.request->site, receive.request->site)
             ? ""
             : fmt::format("{} is in {}, but {} sent {}", state.name(world_rank(receive)),
                           describe_call(*receive.row), state.name(world_rank(sent)),
                           describe_call(*sent.row));
}

}  // namespace meshparity
