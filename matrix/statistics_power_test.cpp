// What the limits let pass and what they catch, on drawn numbers: seeds are fixed, so every run of
// the test is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "matrix/statistics.hpp"

namespace meshparity {
namespace {

constexpr int kSamples = 32;

/// A reference of unit size, its noise and draws from that noise.
class NoisyTensor {
 public:
  NoisyTensor(std::int64_t rows, std::int64_t columns, double sigma, unsigned seed)
      : rows_(rows), columns_(columns), random_(seed) {
    const auto count = static_cast<std::size_t>(rows * columns);
    for (std::size_t i = 0; i < count; ++i) {
      reference.push_back(normal_(random_));
      sigma_.push_back(sigma * std::exp(0.3 * normal_(random_)));
    }
    make_companion();
  }

  std::vector<double> draw(double factor) {
    std::vector<double> error(sigma_.size());
    for (std::size_t i = 0; i < error.size(); ++i) {
      error[i] = factor * sigma_[i] * normal_(random_);
    }
    return error;
  }

  double margin(const std::vector<double>& error, const Lane& lane) const {
    const Statistics found = statistics({reference, error}, companion, 1, lane);
    return found.zero ? std::numeric_limits<double>::infinity() : found.worst().margin();
  }

  std::vector<double> reference;
  Companion companion;

 private:
  // bounds.md §3.2 from its definition: K deviations, their squares and their inner products.
  void make_companion() {
    std::vector<std::vector<double>> deviations;
    for (int k = 0; k < kSamples; ++k) {
      deviations.push_back(draw(1));
    }
    companion.rows = rows_;
    companion.columns = columns_;
    companion.samples = kSamples;
    double norm = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      double square = 0;
      for (const auto& deviation : deviations) {
        square += deviation[i] * deviation[i] / kSamples;
      }
      companion.s2.push_back(static_cast<float>(square));
      companion.total += square / static_cast<double>(reference.size());
      norm += reference[i] * reference[i];
    }
    for (const auto& deviation : deviations) {
      companion.g.push_back(inner(deviation, reference) / norm);
    }
    companion.effective = effective(deviations);
  }

  static double inner(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  double effective(const std::vector<std::vector<double>>& deviations) const {
    double own = 0;
    double cross = 0;
    for (int k = 0; k < kSamples; ++k) {
      for (int l = 0; l < kSamples; ++l) {
        const double product =
            inner(deviations[static_cast<std::size_t>(k)], deviations[static_cast<std::size_t>(l)]);
        own += k == l ? product / kSamples : 0;
        cross += k == l ? 0 : product * product / (kSamples * (kSamples - 1));
      }
    }
    return std::clamp(own * own / cross, 1.0, static_cast<double>(reference.size()));
  }

  std::int64_t rows_, columns_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<double> sigma_;
};

Lane fp32() {
  return lane_of(Precision::fp32);
}
Lane fp64() {
  return lane_of(Precision::fp64);
}

TEST(Power, NoiseOfItsOwnSizeNeverAlarms) {
  int alarms = 0;
  double largest = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    NoisyTensor matrix(8, 12, 1e-7, seed);
    for (int draw = 0; draw < 100; ++draw) {
      const double margin = matrix.margin(matrix.draw(1), fp32());
      alarms += margin <= 1 ? 0 : 1;
      largest = std::max(largest, margin);
    }
  }

  EXPECT_EQ(alarms, 0);
  EXPECT_GT(largest, 0.2);  // the limits are not so wide that noise disappears in them
  EXPECT_LT(largest, 0.75);
}

TEST(Power, SingleNumbersOfTheirOwnNoiseNeverAlarm) {
  int alarms = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    NoisyTensor number(1, 1, 1e-7, seed);
    for (int draw = 0; draw < 10; ++draw) {
      alarms += number.margin(number.draw(1), fp32()) <= 1 ? 0 : 1;
    }
  }

  EXPECT_EQ(alarms, 0);
}

TEST(Power, LimitsAHundredTimesNarrowerAlarmOnEveryNoise) {
  int passes = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    NoisyTensor matrix(8, 12, 1e-7, seed);
    for (int draw = 0; draw < 10; ++draw) {
      passes += 100 * matrix.margin(matrix.draw(1), fp32()) <= 1 ? 1 : 0;
    }
  }

  EXPECT_EQ(passes, 0);
}

/// Adds a relative change to what `touches` names.
template <class Touches>
std::vector<double> changed(NoisyTensor& tensor, double noise, double relative, Touches touches) {
  std::vector<double> error = tensor.draw(noise);
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (touches(i)) {
      error[i] += relative * tensor.reference[i];
    }
  }
  return error;
}

// Activations of bounds.md §4.2: 2e-7 relative sigma (fp32) makes the smallest effects of that
// table's row visible; each is planted three times as large in the pattern that the row names.
TEST(Power, PlantedEffectsAreFlaggedByTheStatisticMeantForThem) {
  struct Effect {
    char statistic;
    double fp32, fp64;
  };
  for (const Effect& effect :
       {Effect{'G', 3.2e-7, 8e-16}, Effect{'R', 4.6e-6, 1.5e-14}, Effect{'C', 6.8e-6, 1.5e-14}}) {
    NoisyTensor tensor(96, 64, 2e-7, 7);
    const auto touches = [&](std::size_t i) {
      return effect.statistic == 'G' || (effect.statistic == 'R' && i / 64 == 17) ||
             (effect.statistic == 'C' && i % 64 == 41);
    };
    const double factor = fp64().factor;
    const auto wrong32 = changed(tensor, 1, 3 * effect.fp32, touches);
    const auto wrong64 = changed(tensor, factor, 3 * effect.fp64, touches);

    for (const auto& [error, lane] : {std::pair(wrong32, fp32()), std::pair(wrong64, fp64())}) {
      const Statistics found = statistics({tensor.reference, error}, tensor.companion, 1, lane);

      EXPECT_GT(found.worst().margin(), 1) << effect.statistic << lane.name;
      EXPECT_EQ(found.worst().statistic, effect.statistic) << lane.name;
    }
  }
}

TEST(Power, OneWrongElementIsFlaggedAtItsPlace) {
  NoisyTensor tensor(96, 64, 2e-7, 7);
  std::vector<double> error = tensor.draw(1);
  error[17 * 64 + 41] = 2.2e-5;

  const Statistics found = statistics({tensor.reference, error}, tensor.companion, 1, fp32());

  EXPECT_GT(found.worst().margin(), 1);
  EXPECT_EQ(found.worst().statistic, 'X');
  EXPECT_EQ(found.worst().block, 17 * 64 + 41);
}

TEST(Power, SeesIsTheSmallestUniformChangeThatIsFlagged) {
  NoisyTensor tensor(96, 64, 2e-7, 7);
  const auto everywhere = [](std::size_t) { return true; };
  const double sees =
      statistics({tensor.reference, changed(tensor, 0, 0, everywhere)}, tensor.companion, 1, fp32())
          .sees;

  EXPECT_GT(tensor.margin(changed(tensor, 0, 1.01 * sees, everywhere), fp32()), 1);
  EXPECT_LE(tensor.margin(changed(tensor, 0, 0.99 * sees, everywhere), fp32()), 1);
}

}  // namespace
}  // namespace meshparity
