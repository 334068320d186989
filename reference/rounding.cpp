#include "reference/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace meshparity::reference {
namespace {

constexpr std::size_t kBlock = 64;  // elements served by one random word
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio, odd

/// splitmix64's finaliser (Stafford's mix 13): each input bit flips each output bit half the time.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::uint64_t chain(std::uint64_t key, std::int64_t value) {
  return mix(key + kGolden * (static_cast<std::uint64_t>(value) + 2));
}

/// x or -x by the top bit.
inline double with_sign(double x, std::uint64_t bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ (bits & kSign));
}

void add_relative(double* y, std::size_t count, double amplitude, std::uint64_t signs) {
  for (std::size_t j = 0; j < count; ++j) {
    y[j] += with_sign(y[j] * amplitude, signs << j);
  }
}

/// Variance of the error of a sum of K terms, in units of u^2/3: (1 + K/6) Q + K y^2 / 3.
struct SumVariance {
  double squares_factor;
  double value_factor;
  explicit SumVariance(double terms) : squares_factor(1 + terms / 6), value_factor(terms / 3) {}
};

/// squares_j = factor * shape_j
struct ScaledSquares {
  double factor;
  const double* shape;
};

void add_sum_noise(double* y, std::size_t count, ScaledSquares squares, double value_factor,
                   std::uint64_t signs) {
  for (std::size_t j = 0; j < count; ++j) {
    const double variance = squares.factor * squares.shape[j] + value_factor * y[j] * y[j];
    y[j] += with_sign(std::sqrt(variance), signs << j);
  }
}

/// The stream of a replica's constants, beside those of its steps.
constexpr std::int64_t kConstants = -1;

bool is_held_by_float(double value) {
  return static_cast<float>(value) == value;
}

/// To the nearest number with unit roundoff u, ties to even; no limits of exponents.
void round_to(double u, std::span<double> y) {
  for (double& value : y) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // in [1/2, 1): steps of u
    value = std::ldexp(std::nearbyint(fraction / u) * u, exponent);
  }
}

std::span<double> elements(Matrix& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

}  // namespace

const Lane& lane_of(Precision precision) {
  switch (precision) {
    case Precision::tf32:
      return kTf32Lane;
    case Precision::bf16:
      return kBf16Lane;
    case Precision::fp64:
    case Precision::fp32:
      break;
  }
  return kFp32Lane;
}

Rounding Rounding::noisy(const Lane& lane, NoiseStream stream) {
  Rounding rounding;
  rounding.kind_ = Kind::noisy;
  rounding.lane_ = lane;
  rounding.accumulation_ = lane.accumulation / std::numbers::sqrt3;
  std::uint64_t key = 0;
  for (const char letter : lane.name) {
    key = chain(key, letter);
  }
  const std::uint64_t of_replica = chain(key, stream.replica);
  rounding.key_ = chain(chain(of_replica, stream.step), stream.sample);
  rounding.constants_key_ = chain(of_replica, kConstants);
  return rounding;
}

std::uint64_t Rounding::signs(std::uint64_t block) const {
  return mix(key_ + kGolden * ((operation_ << 32) + block));
}

Rounding Rounding::nearest(const Lane& lane, SumOrder order) {
  Rounding rounding;
  rounding.kind_ = Kind::nearest;
  rounding.lane_ = lane;
  rounding.order_ = order;
  return rounding;
}

void Rounding::elementwise(std::span<double> y, int operations) {
  apply(y, lane_.elementwise, operations);
}

double Rounding::constant_error(Constant name, std::uint64_t element) const {
  const std::uint64_t stream = chain(constants_key_, static_cast<std::int64_t>(name));
  const std::uint64_t bits = mix(stream + kGolden * (element + 1));
  return lane_.elementwise * (std::ldexp(static_cast<double>(bits >> 11), -52) - 1);
}

double Rounding::constant(Constant name, double value, std::uint64_t element) const {
  if (kind_ == Kind::exact || is_held_by_float(value)) {
    return value;
  }
  if (kind_ == Kind::nearest) {
    double held = value;
    round_to(lane_.elementwise, {&held, 1});
    return held;
  }
  return value * (1 + constant_error(name, element));
}

double Rounding::divisor(Constant name, double count) const {
  if (kind_ != Kind::noisy || is_held_by_float(1 / count)) {
    return count;
  }
  return count * (1 + constant_error(name, static_cast<std::uint64_t>(count)));
}

void Rounding::stored(Matrix& y) {
  apply(elements(y), lane_.storage, 1);
}

const Matrix& Rounding::operand(const Matrix& x, Matrix& copy) {
  if (!rounds_operands()) {
    return x;
  }
  copy = x;
  apply(elements(copy), lane_.operand, 1);
  return copy;
}

void Rounding::compute_copy(Matrix& w) {
  apply(elements(w), lane_.weight, 1);
}

void Rounding::apply(std::span<double> y, double u, int operations) {
  if (u == 0) {
    return;
  }
  if (kind_ == Kind::nearest) {
    round_to(u, y);
    return;
  }
  ++operation_;
  const double amplitude = u * std::sqrt(static_cast<double>(operations)) / std::numbers::sqrt3;
  std::uint64_t block = 0;
  std::size_t first = 0;
  for (; first + kBlock <= y.size(); first += kBlock) {
    add_relative(y.data() + first, kBlock, amplitude, signs(block++));
  }
  add_relative(y.data() + first, y.size() - first, amplitude, signs(block));
}

double Rounding::elementwise(double y, int operations) {
  elementwise(std::span(&y, 1), operations);
  return y;
}

void Rounding::product(MatrixView y, const Column& left, const Row& right, double terms) {
  if (kind_ != Kind::noisy) {
    for (Eigen::Index i = 0; i < y.rows(); ++i) {
      apply({&y(i, 0), static_cast<std::size_t>(y.cols())}, lane_.accumulation, 1);
    }
    return;
  }
  ++operation_;
  const double unit = accumulation_ * accumulation_;
  const SumVariance variance(terms);
  const double squares_factor = unit * variance.squares_factor / terms;
  const auto columns = static_cast<std::size_t>(y.cols());
  std::uint64_t block = 0;
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (std::size_t j = 0; j < columns; j += kBlock) {
      const ScaledSquares squares{squares_factor * left[i], right.data() + j};
      add_sum_noise(&y(i, 0) + j, std::min(kBlock, columns - j), squares,
                    unit * variance.value_factor, signs(block++));
    }
  }
}

void Rounding::sums(Matrix& y, const Matrix& squares, const Column& terms) {
  if (kind_ != Kind::noisy) {
    apply({y.data(), static_cast<std::size_t>(y.size())}, lane_.accumulation, 1);
    return;
  }
  ++operation_;
  const double unit = accumulation_ * accumulation_;
  const auto columns = static_cast<std::size_t>(y.cols());
  std::uint64_t block = 0;
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    const SumVariance variance(terms[i]);
    for (std::size_t j = 0; j < columns; j += kBlock) {
      const ScaledSquares scaled{unit * variance.squares_factor, &squares(i, 0) + j};
      add_sum_noise(&y(i, 0) + j, std::min(kBlock, columns - j), scaled,
                    unit * variance.value_factor, signs(block++));
    }
  }
}

void Rounding::payload(Matrix& y, const Matrix& squares) {
  ++operation_;
  const double unit = lane_.payload * lane_.payload / 3;
  std::uint64_t block = 0;
  const auto count = static_cast<std::size_t>(y.size());
  for (std::size_t first = 0; first < count; first += kBlock) {
    const ScaledSquares scaled{2 * unit, squares.data() + first};
    add_sum_noise(y.data() + first, std::min(kBlock, count - first), scaled, 1.5 * unit,
                  signs(block++));
  }
}

double Rounding::sum(double y, double squares, double terms) {
  if (kind_ != Kind::noisy) {
    apply({&y, 1}, lane_.accumulation, 1);
    return y;
  }
  ++operation_;
  const SumVariance variance(terms);
  const double deviation =
      std::sqrt(variance.squares_factor * squares + variance.value_factor * y * y);
  return y + with_sign(accumulation_ * deviation, signs(0));
}

void Rounding::row_sums(Column& sums, const Matrix& terms, const Column& counts) {
  if (kind_ == Kind::nearest) {
    sums = float_row_sums(terms, order_);
  }
  if (kind_ != Kind::noisy) {
    return;
  }
  ++operation_;
  for (Eigen::Index i = 0; i < sums.size(); ++i) {
    const SumVariance variance(counts[i]);
    const double deviation = std::sqrt(variance.squares_factor * terms.row(i).squaredNorm() +
                                       variance.value_factor * sums[i] * sums[i]);
    const auto row = static_cast<std::uint64_t>(i);
    sums[i] += with_sign(accumulation_ * deviation, signs(row / kBlock) << (row % kBlock));
  }
}

void Rounding::row_sums(Column& sums, const Matrix& terms) {
  if (!is_exact()) {
    row_sums(sums, terms, Column::Constant(sums.size(), static_cast<double>(terms.cols())));
  }
}

}  // namespace meshparity::reference
