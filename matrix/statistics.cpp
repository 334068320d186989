#include "matrix/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

/// (K n x + 4 pool) / (K n + 4); an exact zero stays zero (bounds.md §6, trap 2).
double shrunk(double mean, double elements, double samples, double pool) {
  if (mean == 0) {
    return 0;
  }
  return (samples * elements * mean + kPriorSamples * pool) / (samples * elements + kPriorSamples);
}

/// The variances of a companion by row, column, block of columns and element, unscaled. All sums
/// run in row-major order.
class Variances {
 public:
  Variances(const Companion& companion, std::int64_t column_block)
      : companion_(companion),
        rows_(static_cast<std::size_t>(companion.rows)),
        columns_(static_cast<std::size_t>(companion.columns)),
        width_(static_cast<std::size_t>(column_block)),
        by_place_(is_matrix(companion)),
        row_(rows_, 0),
        column_(columns_, 0),
        block_(columns_ / width_, 0) {
    sum();
    shrink();
  }

  double row(std::size_t i) const { return row_[i]; }
  double block(std::size_t b) const { return block_[b]; }
  double s2(std::size_t i, std::size_t j) const {
    return static_cast<double>(companion_.s2[i * columns_ + j]);
  }
  /// (K s2 + 4 hat) / (K + 4), hat = row x column / total, or the total of a vector.
  double element(std::size_t i, std::size_t j) const {
    const double own = s2(i, j);
    const double hat = by_place_ ? row_[i] * column_[j] / companion_.total : companion_.total;
    return shrunk(own, 1, companion_.samples, hat);
  }

 private:
  void sum() {
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t j = 0; j < columns_; ++j) {
        row_[i] += s2(i, j);
        column_[j] += s2(i, j);
      }
    }
    for (std::size_t j = 0; j < block_.size() * width_; ++j) {
      block_[j / width_] += column_[j];
    }
  }
  void shrink() {
    const auto rows = static_cast<double>(rows_);
    const auto columns = static_cast<double>(columns_);
    const auto mean_of = [&](std::vector<double>& sums, double elements) {
      for (double& value : sums) {
        value = shrunk(value / elements, elements, companion_.samples, companion_.total);
      }
    };
    mean_of(row_, columns);
    mean_of(column_, rows);
    mean_of(block_, rows * static_cast<double>(width_));
  }

  const Companion& companion_;
  std::size_t rows_, columns_, width_;
  bool by_place_;  // a matrix: an element's variance follows from its row's and its column's
  std::vector<double> row_, column_, block_;
};

/// Sums over the data, each in row-major order.
struct Sums {
  std::vector<double> row, block;  // of squared errors
  double squares = 0, reference = 0, inner = 0;
  double projection = 0;  // sum of el ref^2
  double largest = 0;     // of error^2 / el
  std::int64_t largest_at = 0;
  std::optional<std::int64_t> zero;
};

/// A NaN takes the place of the largest and keeps it.
bool exceeds(double value, double largest) {
  return !std::isnan(largest) && !(value <= largest);
}

class Scan {
 public:
  Scan(const Comparand& data, const Companion& companion, std::int64_t column_block)
      : data_(data),
        variances_(companion, column_block),
        rows_(static_cast<std::size_t>(companion.rows)),
        columns_(static_cast<std::size_t>(companion.columns)),
        width_(static_cast<std::size_t>(column_block)) {
    sums_.row.assign(rows_, 0);
    sums_.block.assign(columns_ / width_, 0);
    for (std::size_t i = 0; i < rows_; ++i) {
      for (std::size_t b = 0; b < sums_.block.size(); ++b) {
        for (std::size_t j = b * width_; j < (b + 1) * width_; ++j) {
          add(i, b, j);
        }
      }
      sums_.squares += sums_.row[i];
    }
  }

  const Sums& sums() const { return sums_; }
  const Variances& variances() const { return variances_; }

 private:
  void add(std::size_t i, std::size_t b, std::size_t j) {
    const std::size_t at = i * columns_ + j;
    const double error = data_.error[at];
    const double reference = data_.reference[at];
    const double square = error * error;
    const double variance = variances_.element(i, j);
    sums_.row[i] += square;
    sums_.block[b] += square;
    sums_.reference += reference * reference;
    sums_.inner += error * reference;
    sums_.projection += variance * reference * reference;
    if (variance == 0) {
      if (!(error == 0) && !sums_.zero) {
        sums_.zero = static_cast<std::int64_t>(at);
      }
    } else if (exceeds(square / variance, sums_.largest)) {
      sums_.largest = square / variance;
      sums_.largest_at = static_cast<std::int64_t>(at);
    }
  }

  const Comparand& data_;
  Variances variances_;
  std::size_t rows_, columns_, width_;
  Sums sums_;
};

/// error^2 / variance; where neither is there is nothing to see, and Z sees the rest.
double quotient(double squares, double variance) {
  return variance == 0 ? 0 : squares / variance;
}

template <class Variance>
Ratio largest_block(char statistic, const std::vector<double>& squares, double elements,
                    Variance variance) {
  Ratio ratio;
  ratio.statistic = statistic;
  for (std::size_t b = 0; b < squares.size(); ++b) {
    const double value = quotient(squares[b] / elements, variance(b));
    if (exceeds(value, ratio.value)) {
      ratio.value = value;
      ratio.block = static_cast<std::int64_t>(b);
    }
  }
  ratio.value = std::sqrt(ratio.value);
  return ratio;
}

Ratio scaled(Ratio ratio, double factor, const Limit& limit) {
  ratio.value /= factor;
  ratio.limit = limit;
  return ratio;
}

/// sg of bounds.md §3.2, already in the lane's units.
double projection_sigma(const Companion& companion, const Sums& sums, double factor) {
  double squares = 0;
  for (const double g : companion.g) {
    squares += g * g;
  }
  const double prior = sums.projection / (sums.reference * sums.reference);
  return factor *
         std::sqrt((squares + kPriorSamples * prior) / (companion.samples + kPriorSamples));
}

void require_sizes(const Comparand& data, const Companion& companion, std::int64_t column_block) {
  const std::int64_t elements = companion.rows * companion.columns;
  const auto count = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  const bool fits = count(data.reference) == elements && count(data.error) == elements &&
                    count(companion.s2) == elements && count(companion.g) == companion.samples &&
                    column_block > 0 && companion.columns % column_block == 0;
  if (!fits) {
    throw Error(fmt::format(
        "comparing {}: {} elements, companions of {} x {} with {} variances, {} samples and {} "
        "projections, blocks of {} columns",
        companion.record, data.reference.size(), companion.rows, companion.columns,
        companion.s2.size(), companion.samples, companion.g.size(), column_block));
  }
}

/// What one statistic would have to exceed for a uniform change of the whole record.
double smallest_seen(const Statistics& found, const Limits& limits, double projection) {
  if (found.reference_norm == 0) {
    return std::numeric_limits<double>::infinity();
  }
  const double by_size = limits.whole.value * found.sigma / found.reference_norm;
  return projection > 0 ? std::min(by_size, limits.projection.value * projection) : by_size;
}

}  // namespace

const Ratio& Statistics::worst() const {
  const Ratio* worst = &ratios.front();
  for (const Ratio& ratio : ratios) {
    if (exceeds(ratio.margin(), worst->margin())) {
      worst = &ratio;
    }
  }
  return *worst;
}

Statistics statistics(const Comparand& data, const Companion& companion, std::int64_t column_block,
                      const Lane& lane) {
  require_sizes(data, companion, column_block);
  const Limits limits = limits_for(companion, column_block);
  const Scan scan(data, companion, column_block);
  const Sums& sums = scan.sums();
  const auto elements = static_cast<double>(data.error.size());

  Statistics found;
  found.zero = sums.zero;
  found.error_norm = std::sqrt(sums.squares);
  found.reference_norm = std::sqrt(sums.reference);
  found.sigma = lane.factor * std::sqrt(elements * companion.total);  // of the whole, as a norm
  const Ratio whole = {'F', std::sqrt(quotient(sums.squares / elements, companion.total)), 0, {}};
  found.ratios.push_back(scaled(whole, lane.factor, limits.whole));
  if (is_matrix(companion)) {
    const Ratio row = largest_block('R', sums.row, static_cast<double>(companion.columns),
                                    [&](std::size_t i) { return scan.variances().row(i); });
    const Ratio column =
        largest_block('C', sums.block, static_cast<double>(companion.rows * column_block),
                      [&](std::size_t b) { return scan.variances().block(b); });
    found.ratios.push_back(scaled(row, lane.factor, limits.row));
    found.ratios.push_back(scaled(column, lane.factor, limits.column));
  }
  double projection = 0;
  if (!is_single(companion)) {
    const Ratio element = {'X', std::sqrt(sums.largest), sums.largest_at, {}};
    found.ratios.push_back(scaled(element, lane.factor, limits.element));
    if (found.reference_norm > lane.projection_guard * found.sigma && found.sigma > 0) {
      projection = projection_sigma(companion, sums, lane.factor);
      const double along = std::abs(sums.inner) / sums.reference;
      found.ratios.push_back({'G', along / projection, 0, limits.projection});
    }
  }
  const double reach = limits.whole.value * found.sigma;
  found.blind = found.sigma > 0 && !(reach < found.reference_norm / 2);
  found.sees = smallest_seen(found, limits, projection);
  found.sigma /= std::sqrt(elements);
  return found;
}

std::int64_t worst_element(const Ratio& ratio, const Comparand& data, const Companion& companion,
                           std::int64_t column_block) {
  if (ratio.statistic == 'X') {
    return ratio.block;
  }
  const Variances variances(companion, column_block);
  std::int64_t worst = -1;
  double largest = 0;
  for (std::int64_t at = 0; at < companion.rows * companion.columns; ++at) {
    const std::int64_t i = at / companion.columns;
    const std::int64_t j = at % companion.columns;
    const bool outside = (ratio.statistic == 'R' && i != ratio.block) ||
                         (ratio.statistic == 'C' && j / column_block != ratio.block);
    const double error = data.error[static_cast<std::size_t>(at)];
    const double value = quotient(
        error * error, variances.element(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
    if (!outside && (worst < 0 || exceeds(value, largest))) {
      worst = at;
      largest = value;
    }
  }
  return worst;
}

}  // namespace meshparity
