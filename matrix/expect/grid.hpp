// Where each rank lies, by matrix's own formula (algorithms.md §9.1): what a candidate says of its
// coordinates is held against this.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity::expect {

/// A place on every axis, indexed by Axis. On the expert grid Axis::tp stands for etp and Axis::dp
/// for edp; axes that a grid does not have are 0.
using Place = std::array<int, kAxisCount>;

struct RankPlace {
  Place dense{};
  Place expert{};
};

/// dp * tp * pp * cp.
int world_of(const MeshShape& mesh);
/// rank = sum of coordinate * stride, the first axis of the case's order having stride 1.
RankPlace place_of(const CaseSpec& spec, int rank);

/// The axes named by "tp" or "dp,tp"; empty text names none. Throws UsageError for another word.
std::vector<Axis> axes_named(std::string_view text);
/// The coordinates of `rank` on `axes`, in their order; on the expert grid when ep or etp is named.
std::vector<int> coordinates_on(const CaseSpec& spec, int rank, std::span<const Axis> axes);
/// On one axis of the dense grid.
int coordinate_on(const CaseSpec& spec, int rank, Axis axis);
/// Every coordinate that the mesh has on `axes`, in lexicographic order.
std::vector<std::vector<int>> all_coordinates(const CaseSpec& spec, std::span<const Axis> axes);
/// Ranks that agree with `rank` on every other axis, ascending.
std::vector<int> peers(const CaseSpec& spec, int rank, std::span<const Axis> axes);

/// "dp0 tp1": the axes of degree above 1; "single" when there is none.
std::string place_text(const CaseSpec& spec, int rank);

}  // namespace meshparity::expect
