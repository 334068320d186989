#include "parallel_impl/kernels/swiglu.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// s(0) = 1/2, s(ln 3) = 3/4, s(-ln 3) = 1/4; five elements, which no lane count divides.
const double kLog3 = std::log(3.0);
const std::vector<double> kGate = {0, kLog3, -kLog3, kLog3, 1000};
const std::vector<double> kUp = {7, 8, 8, -2, 3};

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_DOUBLE_EQ(actual[i], expected[i]) << "at " << i;
  }
}

TEST(Swiglu, ForwardAtGatesWorkedByHand) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(5, 99);

    LaneTeam(lanes).run(SwigluForward<double>{kGate.data(), kUp.data(), out.data(), 5});

    expect_close(out, {0, 6 * kLog3, -2 * kLog3, -1.5 * kLog3, 3000});
  }
}

TEST(Swiglu, AFarNegativeGateIsZeroAndNotNaN) {
  const double gate = -1000, up = 2;
  double out = 99;

  LaneTeam(1).run(SwigluForward<double>{&gate, &up, &out, 1});

  EXPECT_EQ(out, 0);
}

// The slope of silu is s (1 + x (1 - s)): 1/2 at 0, 3/4 (1 + ln 3 / 4) at ln 3,
// 1/4 (1 - 3/4 ln 3) at -ln 3, 1 far out.
TEST(Swiglu, BackwardAtGatesWorkedByHandInPlace) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> grad = {2, 4, 4, 2, 5};  // of the output, then of up
    std::vector<double> grad_gate(5, 99);

    LaneTeam(lanes).run(SwigluBackward<double>{kGate.data(), kUp.data(), grad.data(),
                                               grad_gate.data(), grad.data(), 5});

    expect_close(grad, {0, 3 * kLog3, -kLog3, 1.5 * kLog3, 5000});
    expect_close(grad_gate, {7, 32 * 0.75 * (1 + kLog3 / 4), 32 * 0.25 * (1 - 0.75 * kLog3),
                             -4 * 0.75 * (1 + kLog3 / 4), 15});
  }
}

}  // namespace
}  // namespace meshparity
