// The mesh as one rank sees it: its coordinate and the groups it talks in.
#pragma once
#include <initializer_list>

#include "fixtures/case_spec.hpp"
#include "fixtures/rank_grid.hpp"
#include "parallel_impl/comm/comm.hpp"

namespace meshparity {

/// A value: copied freely, no state shared between ranks.
class Mesh {
 public:
  Mesh(const CaseSpec& spec, int rank);

  int rank() const { return rank_; }
  int world() const { return dense_.world_size(); }
  int degree(Axis axis) const { return dense_.degree(axis); }
  int index(Axis axis) const { return coordinate_[static_cast<std::size_t>(axis)]; }
  const Coordinate& coordinate() const { return coordinate_; }
  const Coordinate& expert_coordinate() const { return expert_coordinate_; }
  /// This rank's group along the axes given, canonical order.
  CommGroup group(std::initializer_list<Axis> axes) const;
  /// "dp0 tp1"
  std::string describe() const;

 private:
  int rank_;
  RankGrid dense_;
  RankGrid expert_;
  Coordinate coordinate_;
  Coordinate expert_coordinate_;
};

}  // namespace meshparity
