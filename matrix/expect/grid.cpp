#include "matrix/expect/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace meshparity::expect {
namespace {

std::size_t at(Axis axis) {
  return static_cast<std::size_t>(axis);
}

/// Degrees of the two grids. Where ep and etp have degree 1 every rank of a stage is its own edp.
Place dense_degrees(const MeshShape& mesh) {
  Place degrees{};
  degrees.fill(1);
  for (const Axis axis : {Axis::dp, Axis::tp, Axis::pp, Axis::cp}) {
    degrees[at(axis)] = mesh.degree(axis);
  }
  return degrees;
}

/// The expert grid has etp in the place of tp and edp in the place of dp.
Place expert_degrees(const MeshShape& mesh) {
  const int ranks_of_a_stage = world_of(mesh) / mesh.degree(Axis::pp);
  Place degrees{};
  degrees.fill(1);
  degrees[at(Axis::pp)] = mesh.degree(Axis::pp);
  degrees[at(Axis::ep)] = mesh.degree(Axis::ep);
  degrees[at(Axis::tp)] = mesh.degree(Axis::etp);
  degrees[at(Axis::dp)] = ranks_of_a_stage / (mesh.degree(Axis::ep) * mesh.degree(Axis::etp));
  return degrees;
}

/// coordinate = rank / stride mod size, the stride growing along the order, fastest axis first.
Place split(int rank, const Place& degrees, const AxisOrder& order) {
  Place place{};
  int rest = rank;
  for (const Axis axis : order) {
    place[at(axis)] = rest % degrees[at(axis)];
    rest /= degrees[at(axis)];
  }
  return place;
}

bool on_expert_grid(std::span<const Axis> axes) {
  return std::any_of(axes.begin(), axes.end(),
                     [](Axis axis) { return axis == Axis::ep || axis == Axis::etp; });
}

/// Where an axis is kept in a Place.
std::size_t slot(Axis axis) {
  return at(axis == Axis::etp ? Axis::tp : axis);
}

}  // namespace

int world_of(const MeshShape& mesh) {
  return mesh.degree(Axis::dp) * mesh.degree(Axis::tp) * mesh.degree(Axis::pp) *
         mesh.degree(Axis::cp);
}

RankPlace place_of(const CaseSpec& spec, int rank) {
  return {split(rank, dense_degrees(spec.mesh), spec.order),
          split(rank, expert_degrees(spec.mesh), spec.order)};
}

std::vector<Axis> axes_named(std::string_view text) {
  std::vector<Axis> axes;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    axes.push_back(axis_from_name(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return axes;
}

std::vector<int> coordinates_on(const CaseSpec& spec, int rank, std::span<const Axis> axes) {
  const RankPlace place = place_of(spec, rank);
  const Place& grid = on_expert_grid(axes) ? place.expert : place.dense;
  std::vector<int> coordinates;
  for (const Axis axis : axes) {
    coordinates.push_back(grid[slot(axis)]);
  }
  return coordinates;
}

int coordinate_on(const CaseSpec& spec, int rank, Axis axis) {
  return place_of(spec, rank).dense[at(axis)];
}

std::vector<std::vector<int>> all_coordinates(const CaseSpec& spec, std::span<const Axis> axes) {
  const Place degrees = on_expert_grid(axes) ? expert_degrees(spec.mesh) : dense_degrees(spec.mesh);
  std::vector<std::vector<int>> all = {{}};
  for (const Axis axis : axes) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& start : all) {
      for (int c = 0; c < degrees[slot(axis)]; ++c) {
        longer.push_back(start);
        longer.back().push_back(c);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<int> peers(const CaseSpec& spec, int rank, std::span<const Axis> axes) {
  const bool expert = on_expert_grid(axes);
  const auto others = [&](int r) {
    const RankPlace place = place_of(spec, r);
    Place rest = expert ? place.expert : place.dense;
    for (const Axis axis : axes) {
      rest[slot(axis)] = 0;
    }
    return rest;
  };
  std::vector<int> ranks;
  for (int r = 0; r < world_of(spec.mesh); ++r) {
    if (others(r) == others(rank)) {
      ranks.push_back(r);
    }
  }
  return ranks;
}

std::string place_text(const CaseSpec& spec, int rank) {
  const RankPlace place = place_of(spec, rank);
  std::string text;
  for (const Axis axis : kAxes) {
    if (spec.mesh.degree(axis) > 1) {
      const bool expert = axis == Axis::ep || axis == Axis::etp;
      const Place& grid = expert ? place.expert : place.dense;
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis_name(axis), grid[slot(axis)]);
    }
  }
  return text.empty() ? "single" : text;
}

}  // namespace meshparity::expect
