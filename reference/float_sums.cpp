#include "reference/float_sums.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace meshparity::reference {
namespace {

std::vector<Eigen::Index> order_of(Eigen::Index terms, SumOrder order) {
  std::vector<Eigen::Index> places(static_cast<std::size_t>(terms));
  std::iota(places.begin(), places.end(), 0);
  if (order.seed != 0) {
    std::mt19937_64 random(order.seed);
    std::shuffle(places.begin(), places.end(), random);
  }
  return places;
}

}  // namespace

FloatMatrix float_product(const FloatMatrix& left, const FloatMatrix& right, SumOrder order) {
  const Eigen::Index terms = left.cols();
  const std::vector<Eigen::Index> places = order_of(terms, order);
  const Eigen::Index parts =
      std::clamp<Eigen::Index>(order.parts, 1, std::max<Eigen::Index>(1, terms));
  FloatMatrix sum = FloatMatrix::Zero(left.rows(), right.cols());
  for (Eigen::Index part = 0; part < parts; ++part) {
    const std::vector<Eigen::Index> own(places.begin() + part * terms / parts,
                                        places.begin() + (part + 1) * terms / parts);
    const FloatMatrix of_left = left(Eigen::all, own);
    const FloatMatrix of_right = right(own, Eigen::all);
    const FloatMatrix partial = of_left * of_right;
    sum += partial;
  }
  return sum;
}

Column float_row_sums(const Matrix& terms, SumOrder order) {
  const FloatMatrix ones = FloatMatrix::Ones(terms.cols(), 1);
  return float_product(terms.cast<float>(), ones, order).cast<double>();
}

}  // namespace meshparity::reference
