#include "matrix/expect/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>

#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity::expect {
namespace {

/// Slowest first. On the expert grid dp stands for edp and etp takes the place of tp.
constexpr std::array<Axis, 6> kSlowestFirst = {Axis::dp, Axis::cp, Axis::pp,
                                               Axis::ep, Axis::tp, Axis::etp};

bool contains(std::span<const Axis> axes, Axis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string axes_text(std::span<const Axis> axes) {
  std::string text;
  for (const Axis axis : kAxes) {
    if (contains(axes, axis)) {
      text += fmt::format("{}{}", text.empty() ? "" : ",", axis_name(axis));
    }
  }
  return text;
}

}  // namespace

std::string Group::text() const {
  return fmt::format("{}", fmt::join(ranks, " "));
}

std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const last = text.data() + text.size();
  while (at != last) {
    int rank = 0;
    const auto [end, code] = std::from_chars(at, last, rank);
    if (code == std::errc()) {
      ranks.push_back(rank);
    }
    at = code == std::errc() ? end : at + 1;
  }
  return ranks;
}

std::string axes_that_cut(const CaseSpec& spec, const std::string& axes) {
  std::vector<Axis> cutting;
  try {
    for (const Axis axis : axes_named(axes)) {
      if (spec.mesh.degree(axis) > 1) {
        cutting.push_back(axis);
      }
    }
  } catch (const UsageError&) {
    return axes;
  }
  return axes_text(cutting);
}

Group group_along(const CaseSpec& spec, int rank, std::span<const Axis> axes) {
  std::vector<Axis> ordered;
  for (const Axis axis : kSlowestFirst) {
    if (contains(axes, axis)) {
      ordered.push_back(axis);
    }
  }
  Group group{axes_text(axes), peers(spec, rank, axes)};
  std::sort(group.ranks.begin(), group.ranks.end(), [&](int a, int b) {
    return coordinates_on(spec, a, ordered) < coordinates_on(spec, b, ordered);
  });
  return group;
}

std::vector<Group> all_groups(const CaseSpec& spec, std::span<const Axis> axes) {
  std::vector<Axis> others;
  for (const Axis axis : {Axis::dp, Axis::tp, Axis::pp, Axis::cp}) {
    if (!contains(axes, axis)) {
      others.push_back(axis);
    }
  }
  std::vector<Axis> ordered;
  std::copy_if(kSlowestFirst.begin(), kSlowestFirst.end(), std::back_inserter(ordered),
               [&](Axis axis) { return contains(axes, axis); });
  std::map<std::vector<int>, std::map<std::vector<int>, int>> sorted;
  for (int rank = 0; rank < world_of(spec.mesh); ++rank) {
    sorted[coordinates_on(spec, rank, others)][coordinates_on(spec, rank, ordered)] = rank;
  }
  std::vector<Group> groups;
  for (const auto& [rest, members] : sorted) {
    Group& group = groups.emplace_back(Group{axes_text(axes), {}});
    for (const auto& [place, rank] : members) {
      group.ranks.push_back(rank);
    }
  }
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return *std::min_element(a.ranks.begin(), a.ranks.end()) <
           *std::min_element(b.ranks.begin(), b.ranks.end());
  });
  return groups;
}

Group same_key_heads(const CaseSpec& spec, const ModelSpec& model, int rank) {
  const std::array<Axis, 1> tp = {Axis::tp};
  Group group = group_along(spec, rank, tp);
  const int copies = std::max(1, group.size() / model.kv_heads);
  const int index = coordinates_on(spec, rank, tp).front();
  const auto first = group.ranks.begin() + index - index % copies;
  group.ranks = std::vector<int>(first, first + copies);
  return group;
}

}  // namespace meshparity::expect
