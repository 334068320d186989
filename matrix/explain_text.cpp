#include <fmt/format.h>

#include <algorithm>

#include "matrix/expect/grid.hpp"
#include "matrix/explain.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kShown = 16;  // entries of a list that is of one line each

std::string dims(const std::vector<std::int64_t>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

/// "[0:33, 0:72]"
std::string box_text(const Box& box) {
  std::string text;
  for (std::size_t dim = 0; dim < box.start.size(); ++dim) {
    text += fmt::format("{}{}:{}", dim == 0 ? "" : ", ", box.start[dim],
                        box.start[dim] + box.extent[dim]);
  }
  return "[" + text + "]";
}

template <class T>
std::string first_of(const std::vector<T>& all, const char* between = " ") {
  const std::size_t shown = std::min(kShown, all.size());
  const std::string rest =
      all.size() > shown ? fmt::format(" and {} more", all.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(all.begin(), all.begin() + std::ptrdiff_t(shown), between),
                     rest);
}

class Page {
 public:
  explicit Page(const Explanation& it) : it_(it) {}

  std::string text() {
    add("case {}", it_.case_id);
    mesh();
    groups();
    if (it_.schedule) {
      text_ += schedule_text(*it_.schedule, it_.columns);
    }
    if (it_.no_formulas.empty()) {
      owners();
      records();
      collectives();
      memory();
      losses();
    } else {
      add("owners, collectives, memory: {}", it_.no_formulas);
    }
    checks();
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    text_ += fmt::format(format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  void add_rest(std::size_t all) {
    if (all > kShown) {
      add("  and {} more (--json has all)", all - kShown);
    }
  }

  void mesh() {
    add("\nmesh {}: {} ranks, {} to a node", format_mesh(it_.spec.mesh), it_.world,
        it_.ranks_per_node);
    for (int rank = 0; rank < it_.world && rank < static_cast<int>(kShown); ++rank) {
      add("  rank {:<4} {:<12} node {}", rank, expect::place_text(it_.spec, rank),
          rank / it_.ranks_per_node);
    }
    add_rest(static_cast<std::size_t>(it_.world));
  }

  void groups() {
    add("\ngroups, in the order of their sums");
    for (const GroupSet& set : it_.groups) {
      add("  {}: {} of {} ranks, {} within a node", set.axes, set.groups.size(),
          set.groups.front().size(), set.within_a_node);
      for (std::size_t i = 0; i < set.groups.size() && i < kShown; ++i) {
        add("    {}", first_of(set.groups[i].ranks));
      }
      add_rest(set.groups.size());
    }
  }

  void owners() {
    const int zero = it_.spec.zero_stage;
    add("\nparameters on rank {} ({}): {}", it_.rank, expect::place_text(it_.spec, it_.rank),
        zero == 0 ? "its gradient and moments lie alike" : shards_text(zero));
    for (const HeldParameter& held : it_.parameters) {
      const std::int64_t padding = held.in_memory - element_count(held.box);
      const std::string share =
          zero == 0 ? "" : fmt::format("; owns {} from {}", held.owned, held.owned_from);
      add("  {:<28} {:<14} {:<22} on {} ranks, {}{}{}", held.name, dims(held.shape),
          box_text(held.box), held.holders, held.how,
          padding == 0 ? "" : fmt::format(", {} elements of padding", padding), share);
    }
  }

  static std::string shards_text(int zero) {
    return fmt::format("of these elements a replica owns some, and keeps {} of no others (zero{})",
                       zero == 1   ? "master and moments"
                       : zero == 2 ? "gradient, master and moments"
                                   : "values, gradient, master and moments",
                       zero);
  }

  /// Layers are alike: the first one stands for all.
  void records() {
    add("\nrecords on rank {}, micro-batch 0 (layer0 stands for all layers)", it_.rank);
    for (const HeldRecord& held : it_.records) {
      if (held.record.starts_with("layer") && !held.record.starts_with("layer0.")) {
        continue;
      }
      const std::size_t more = held.boxes.size() - 1;
      add("  {:<9}{:<22} {:<18} {}{}", phase_name(held.phase), held.record, dims(held.shape),
          box_text(held.boxes.front()), more == 0 ? "" : fmt::format(" and {} boxes more", more));
    }
  }

  void collectives() {
    const bool stream = it_.schedule && it_.schedule->stream;
    add("\ncollectives of rank {} in {}", it_.rank,
        stream ? "a run of one batch, whose losses are summed at its end" : "one step");
    for (const CallKind& call : it_.calls) {
      add("  {:>6} x {:<14} {:<30} {:<5} of {:<5} {:>12} numbers {:>14} bytes", call.calls,
          call.kind, call.site, call.axis, call.group_size, call.count, call.bytes);
    }
    for (const AxisLoad& load : it_.loads) {
      add("  along {}: {} calls, {} bytes of payload, {:.0f} sent by a ring, {}", load.payload.axis,
          load.payload.calls, load.payload.bytes, load.wire_bytes,
          load.crosses_nodes ? "across nodes" : "within a node");
    }
  }

  void memory() {
    if (it_.memory.empty()) {
      return;
    }
    add("\nmemory of a rank in bytes, without room for work");
    for (const ShareMemory& each : it_.memory) {
      add("  {}: {} in all", first_of(each.shares, ", "), each.memory.total());
      for (const std::string_view tag : expect::kDueTags) {
        add("    {:<14}{:>16}", tag, each.memory.of(tag));
      }
    }
  }

  void losses() {
    add("\nfailure domains: every rank stalls within a step when one is gone");
    for (std::size_t i = 0; i < it_.losses.size() && i < kShown; ++i) {
      const NodeLoss& loss = it_.losses[i];
      std::string hit;
      for (const auto& [axes, count] : loss.groups_hit) {
        hit += fmt::format("{}{} {} groups", hit.empty() ? "" : ", ", count, axes);
      }
      add("  node {} ({} ranks): hits {}; {}", loss.node, loss.ranks.size(),
          hit.empty() ? "nothing else" : hit,
          loss.shares_lost.empty()
              ? "every share of the state has a copy elsewhere"
              : fmt::format("no copy elsewhere of {}", first_of(loss.shares_lost, ", ")));
    }
    add_rest(it_.losses.size());
  }

  void checks() {
    add("\nchecks");
    for (const auto& [name, why_not] : it_.checks) {
      add("  {}{}", name, why_not.empty() ? "" : ": no, " + why_not);
    }
    add("\nexact relations, each with the case to be equal to");
    for (const auto& [name, partner] : it_.relations) {
      add("  {:<12} {}", name, partner);
    }
  }

  const Explanation& it_;
  std::string text_;
};

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  return Page(explanation).text();
}

}  // namespace meshparity
