#include "parallel_impl/mesh/mesh.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace meshparity {

Mesh::Mesh(const CaseSpec& spec, int rank)
    : rank_(rank),
      dense_(RankGrid::dense(spec.mesh, spec.order)),
      expert_(RankGrid::expert(spec.mesh, spec.order)),
      coordinate_(dense_.coordinate(rank)),
      expert_coordinate_(expert_.coordinate(rank)) {}

CommGroup Mesh::group(std::initializer_list<Axis> axes) const {
  const auto named = [&](Axis axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  CommGroup group;
  for (const Axis axis : kAxes) {
    if (named(axis)) {
      group.axis += group.axis.empty() ? "" : ",";
      group.axis += axis_name(axis);
    }
  }
  const RankGrid& grid = named(Axis::ep) || named(Axis::etp) ? expert_ : dense_;
  group.ranks = grid.group(rank_, std::vector<Axis>(axes));
  group.index = static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), rank_) -
                                 group.ranks.begin());
  return group;
}

std::string Mesh::describe() const {
  return format_coordinate(dense_, coordinate_);
}

}  // namespace meshparity
