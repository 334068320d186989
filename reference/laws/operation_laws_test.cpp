#include "reference/laws/operation_laws.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace meshparity::reference {
namespace {

constexpr Wide kU = 0x1p-53L;
const OperationType kFp64(Precision::fp64, true);

// (2, 3) . (5, -1) + 4 = 11; magnitudes 10 + 3, two terms.
TEST(OperationLaws, ALinearsLimitCountsItsTermsAndItsBias) {
  const std::vector<double> x = {2, 3};
  const std::vector<double> w = {5, 99, -1, 99};
  const double bias = 4;

  const Demand demand = LinearLaw{kFp64}.element(x, w.data(), 2, &bias);

  EXPECT_EQ(demand.value, 11);
  EXPECT_EQ(demand.limit, (2 * 13 + 11 + 4) * kU);
}

TEST(OperationLaws, OperandsAndStorageAddToALinearsLimit) {
  const std::vector<double> x = {2};
  const std::vector<double> w = {-3};

  const Demand tf32 = LinearLaw{{Precision::tf32, true}}.element(x, w.data(), 1, nullptr);
  const Demand bf16 = LinearLaw{{Precision::bf16, true}}.element(x, w.data(), 1, nullptr);

  EXPECT_EQ(tf32.limit, 6 * (0x1p-24L + 2 * 0x1p-11L));
  EXPECT_EQ(bf16.limit, 6 * (0x1p-24L + 0x1p-8L));
}

// x = (1, 3): mean 2, c = (-1, 1), variance 1; eps 3 makes the root 2.
TEST(OperationLaws, ALayernormsLimitFollowsItsMeanAndVariance) {
  const std::vector<double> x = {1, 3};
  const std::vector<double> weight = {4, 4};
  const std::vector<double> bias = {10, 10};

  const std::vector<Demand> y = NormLaw{kFp64, 3, true, weight, bias}.row(x);

  EXPECT_EQ(y[0].value, 8);
  EXPECT_EQ(y[1].value, 12);
  // e_c = u (4 + 1); variance 2 5u + 4u = 14 u over 2 4, and 5 u: 6.75 u of 2; e_c 2 = 10 u; 8 u.
  EXPECT_NEAR(static_cast<double>(y[0].limit / kU), 2 * 6.75 + 10 + 8, 1e-9);
}

// x = (3, 4): mean square 12.5, eps 12.5 makes the root 5; nothing is subtracted.
TEST(OperationLaws, AnRmsnormHasNoMean) {
  const std::vector<double> x = {3, 4};
  const std::vector<double> weight = {1, 10};

  const std::vector<Demand> y = NormLaw{kFp64, 12.5, false, weight, {}}.row(x);

  EXPECT_NEAR(static_cast<double>(y[0].value), 0.6, 1e-15);
  EXPECT_NEAR(static_cast<double>(y[1].value), 8, 1e-15);
  EXPECT_NEAR(static_cast<double>(y[1].limit / kU), 8 * (4 * 12.5 / 50 + 5), 1e-9);
}

// Two equal logits of 0 and a sink of ln 2: shares 1/4, 1/4 and 1/2 for the sink.
TEST(OperationLaws, ASoftmaxSharesWithItsSink) {
  const std::vector<double> q = {0};
  const std::vector<double> key = {7};
  const std::vector<const double*> keys = {key.data(), key.data()};
  const double sink = std::log(2.0);

  const std::vector<Demand> p = SoftmaxLaw{kFp64, &sink}.row(q, keys);

  ASSERT_EQ(p.size(), 2u);
  EXPECT_NEAR(static_cast<double>(p[0].value), 0.25, 1e-15);
  // e = u (ln 2 + 2) and 2 u for the sink: mean u (ln 2 / 2 + 2), and 6 u of the sum.
  EXPECT_NEAR(static_cast<double>(p[0].limit / kU), 0.25 * (std::log(2.0) * 1.5 + 10), 1e-9);
}

}  // namespace
}  // namespace meshparity::reference
