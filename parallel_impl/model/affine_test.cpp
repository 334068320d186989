// The worked example of affine-state context parallelism (algorithms.md §5.2): the maps of two
// segments compose "a then b" as (M_b M_a, M_b b_a + b_b), and the order matters. The products are
// the host backend's.
#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {
namespace {

/// S -> M S + b on a state of 2 rows and any number of columns.
struct Affine {
  std::vector<double> m;  // [2, 2]
  std::vector<double> b;  // [2, columns]
};

std::vector<double> times(const std::vector<double>& m, const std::vector<double>& s) {
  const int columns = static_cast<int>(s.size()) / 2;
  std::vector<double> out(s.size());
  make_host_backend<double>()->run(
      Matmul<double>{m.data(), 2, 1, s.data(), columns, 1, out.data(), 2, columns, 2});
  return out;
}

std::vector<double> plus(std::vector<double> a, const std::vector<double>& b) {
  make_host_backend<double>()->run(AddInto<double>{b.data(), a.data(), static_cast<int>(a.size())});
  return a;
}

std::vector<double> mapped(const Affine& map, const std::vector<double>& s) {
  return plus(times(map.m, s), map.b);
}

/// First a, then b: later factors stand on the left.
Affine then(const Affine& a, const Affine& b) {
  return {times(b.m, a.m), plus(times(b.m, a.b), b.b)};
}

const Affine kA = {{2, 0, 0, 0.5}, {1, -1}};
const Affine kB = {{1, 1, 0, 2}, {0.5, 2}};
const std::vector<double> kX = {3, 4};

TEST(AffineState, SequentialApplicationByHand) {
  EXPECT_EQ(mapped(kA, kX), (std::vector<double>{7, 1}));                // (6, 2) + (1, -1)
  EXPECT_EQ(mapped(kB, mapped(kA, kX)), (std::vector<double>{8.5, 4}));  // (8, 2) + (0.5, 2)
}

TEST(AffineState, TheComposedMapDoesBothAtOnce) {
  const Affine both = then(kA, kB);

  EXPECT_EQ(both.m, (std::vector<double>{2, 0.5, 0, 1}));
  EXPECT_EQ(both.b, (std::vector<double>{0.5, 0}));
  EXPECT_EQ(mapped(both, kX), mapped(kB, mapped(kA, kX)));
}

TEST(AffineState, TheOtherOrderIsAnotherMap) {
  // b first: (7, 8) + (0.5, 2) = (7.5, 10); then a: (15, 5) + (1, -1).
  EXPECT_EQ(mapped(then(kB, kA), kX), (std::vector<double>{16, 4}));
  EXPECT_NE(then(kB, kA).m, then(kA, kB).m);
}

TEST(AffineState, CompositionIsAssociativeAndHasAnIdentity) {
  const Affine identity = {{1, 0, 0, 1}, {0, 0}};
  const Affine c = {{0, -1, 4, 0}, {2, 8}};

  const Affine left = then(then(kA, kB), c);
  const Affine right = then(kA, then(kB, c));

  EXPECT_EQ(left.m, right.m);
  EXPECT_EQ(left.b, right.b);
  EXPECT_EQ(then(identity, kA).b, kA.b);
  EXPECT_EQ(then(kA, identity).m, kA.m);
}

TEST(AffineState, OffsetsOfSegmentsMayNotSimplyBeAdded) {
  EXPECT_NE(then(kA, kB).b, plus(kA.b, kB.b));
}

}  // namespace
}  // namespace meshparity
