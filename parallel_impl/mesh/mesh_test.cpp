#include "parallel_impl/mesh/mesh.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace meshparity {
namespace {

CaseSpec dp2_tp3() {
  CaseSpec spec;
  spec.mesh.set_degree(Axis::dp, 2);
  spec.mesh.set_degree(Axis::tp, 3);
  return spec;
}

TEST(Mesh, KnowsItsPlaceAndItsGroups) {
  const Mesh mesh(dp2_tp3(), 4);  // tp fastest: rank = tp + 3 dp

  EXPECT_EQ(mesh.rank(), 4);
  EXPECT_EQ(mesh.world(), 6);
  EXPECT_EQ(mesh.degree(Axis::tp), 3);
  EXPECT_EQ(mesh.index(Axis::dp), 1);
  EXPECT_EQ(mesh.index(Axis::tp), 1);
  EXPECT_EQ(mesh.describe(), "dp1 tp1");
  const CommGroup tp = mesh.group({Axis::tp});
  EXPECT_EQ(tp.axis, "tp");
  EXPECT_EQ(tp.ranks, (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(tp.index, 1);
  const CommGroup dp = mesh.group({Axis::dp});
  EXPECT_EQ(dp.ranks, (std::vector<int>{1, 4}));
  EXPECT_EQ(dp.index, 1);
}

TEST(Mesh, ListsAGroupInCanonicalOrderWhateverTheRankOrder) {
  CaseSpec spec = dp2_tp3();
  spec.order = {Axis::dp, Axis::tp, Axis::cp, Axis::ep, Axis::pp};  // rank = dp + 2 tp
  const Mesh mesh(spec, 4);

  EXPECT_EQ(mesh.describe(), "dp0 tp2");
  const CommGroup all = mesh.group({Axis::tp, Axis::dp});
  EXPECT_EQ(all.axis, "dp,tp");  // one name however the axes are listed
  EXPECT_EQ(all.ranks, (std::vector<int>{0, 2, 4, 1, 3, 5}));  // dp slowest
  EXPECT_EQ(all.index, 2);
}

TEST(Mesh, IsAGroupOfOneAlongAnAxisOfDegreeOne) {
  const Mesh mesh(dp2_tp3(), 5);

  const CommGroup cp = mesh.group({Axis::cp});

  EXPECT_EQ(cp.ranks, std::vector<int>{5});
  EXPECT_EQ(cp.index, 0);
}

TEST(Mesh, FindsExpertGroupsOnTheExpertGrid) {
  CaseSpec spec;
  spec.mesh.set_degree(Axis::dp, 2);
  spec.mesh.set_degree(Axis::tp, 2);
  spec.mesh.set_degree(Axis::ep, 4);  // etp 1: every rank holds other experts
  const Mesh mesh(spec, 2);

  EXPECT_EQ(mesh.group({Axis::ep}).ranks, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(mesh.expert_coordinate()[static_cast<std::size_t>(Axis::ep)], 2);
  EXPECT_EQ(mesh.group({Axis::tp}).ranks, (std::vector<int>{2, 3}));
}

}  // namespace
}  // namespace meshparity
