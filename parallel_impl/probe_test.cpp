#include "parallel_impl/probe.hpp"

#include <gtest/gtest.h>

#include <array>

#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

std::vector<double> shown(const CaseRun& run, const std::string& record) {
  const auto found = run.records.find(record);
  return found == run.records.end() ? std::vector<double>() : found->second;
}

/// 0, k, 2k, ...
std::vector<double> multiples(std::size_t count, double k) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = k * static_cast<double>(i);
  }
  return values;
}

// 65,535 = digit 65,535; 65,536 = digits 0, 1; 3 * 65,536^2 + 5 = digits 5, 0, 3.
TEST(Probe, ShowsAnIndexDigitByDigit) {
  const auto digit = [](std::int64_t element, int step) {
    double value = -1;
    index_source(step)({}, 0, element, std::span(&value, 1));
    return value;
  };

  EXPECT_EQ(digit(65535, 0), 65535);
  EXPECT_EQ(digit(65536, 0), 0);
  EXPECT_EQ(digit(65536, 1), 1);
  const std::int64_t large = 3LL * 65536 * 65536 + 5;
  EXPECT_EQ((std::array{digit(large, 0), digit(large, 1), digit(large, 2)}),
            (std::array{5.0, 0.0, 3.0}));
}

// llama-micro, two key heads on four ranks, two replicas: a key weight has 2 x 2 contributions, a
// norm with sequence parallelism 2 x 4, a query weight 2.
TEST(Probe, CountsTheContributionsToEachGradient) {
  const CaseRun run =
      run_whole_case("llama-micro.dp2-tp4.sp-steps1.fp32.host-threads+probe", Level::standard);

  EXPECT_TRUE(run.complaints.empty());
  EXPECT_EQ(shown(run, "step0/grad/layer0.attn.k.weight"), multiples(8 * 8, 4));
  EXPECT_EQ(shown(run, "step0/grad/layer0.norm1.weight"), multiples(8, 8));
  EXPECT_EQ(shown(run, "step0/grad/layer0.attn.q_norm.weight"), multiples(4, 8));
  EXPECT_EQ(shown(run, "step0/grad/layer0.attn.q.weight"), multiples(8 * 16, 2));
  EXPECT_EQ(shown(run, "step0/grad/head.weight"), multiples(11 * 8, 2));
}

// The same indices through parts of buckets, before and after: a stage each, cut in both ways, and
// a pipeline.
TEST(Probe, GoesTheWaysOfZeroAndOfPipelines) {
  const CaseRun whole =
      run_whole_case("llama-micro.dp2-tp4.sp-steps1.fp32.host-threads+probe", Level::standard);
  for (const char* layout :
       {"dp2-tp4.sp-zero1", "dp2-tp4.sp-zero1_param", "dp2-tp4.sp-zero2_param",
        "dp2-tp4.sp-zero2-bucket1", "dp2-tp4.sp-zero3", "dp2-tp4-pp2.sp-gpipe"}) {
    const CaseRun cut = run_whole_case(
        std::string("llama-micro.") + layout + "-steps1.fp32.host-threads+probe", Level::standard);
    EXPECT_TRUE(cut.complaints.empty()) << layout;
    EXPECT_EQ(cut.records.size(), whole.records.size()) << layout;
    EXPECT_TRUE(differing(whole, cut, "").empty()) << layout << " " << differing(whole, cut, "")[0];
  }
}

TEST(Probe, ShowsParametersAndBothMomentsAndComputesNothing) {
  const CaseRun run =
      run_whole_case("gpt-micro.tp2.steps2.fp64.host-threads+probe", Level::standard);

  for (const char* phase : {"param", "moment1", "moment2"}) {
    const std::string of_step = std::string("step0/") + phase;
    EXPECT_EQ(shown(run, of_step + "/layer0.mlp.up.weight"), multiples(8 * 12, 1)) << phase;
    EXPECT_EQ(shown(run, of_step + "/head.weight"), multiples(13 * 8, 1)) << phase;
    EXPECT_EQ(shown(run, std::string("step1/") + phase + "/embed.position"), multiples(40, 0));
  }
  EXPECT_EQ(shown(run, "step0/grad/layer0.norm1.weight"), multiples(8, 1));
  EXPECT_EQ(run.records.count("step0/forward/logits"), 0u);
  EXPECT_EQ(run.records.size(), 2u * 4u * 21u);
}

}  // namespace
}  // namespace meshparity
