// The two clip limits of a model's spec (contracts.md §2): every step's gradient norm exceeds
// `clip` and stays below `clip_near`, in the tiny models by 1 to 50 %.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/content_hash.hpp"
#include "reference/micro_case.hpp"

namespace meshparity::reference {
namespace {

using testing::TestParamInfo;

/// Prose: the licence with one space for any run of white space. Its indentation, long runs of one
/// token, would double the norm of llama-tiny's first step.
std::shared_ptr<const Text> prose() {
  std::ifstream in(MESHPARITY_PROSE, std::ios::binary);
  std::string bytes;
  for (char byte = 0; in.get(byte);) {
    const bool white = std::isspace(static_cast<unsigned char>(byte)) != 0;
    if (!white || !bytes.ends_with(' ')) {
      bytes += white ? ' ' : byte;
    }
  }
  return std::make_shared<const Text>(Text{{bytes.begin(), bytes.end()}, hash8(bytes)});
}

std::vector<double> norms_of(const ModelSpec& model, const CaseSpec& spec,
                             std::shared_ptr<const Text> text) {
  const Problem problem(model, spec, std::move(text));
  Training training(problem, {});
  std::vector<double> norms;
  for (int step = 0; step < spec.steps; ++step) {
    norms.push_back(training.run(step).records.values(Phase::scalar, "grad_norm")[0]);
  }
  return norms;
}

struct Below {
  double least = 0;  // norm / clip_near
  double most = 0;
};

/// All seeds and optimizers. Where the norm exceeds the limit the run is another one than where it
/// stays below, so each limit is asked of its own run.
void expect_norms_between(const std::string& name, std::shared_ptr<const Text> text, Below below) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
  CaseSpec spec = spec_of(name);
  spec.text_hash = text ? text->hash8 : "";
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    for (const auto optimizer :
         {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::momentum}) {
      spec.seed = seed;
      spec.optimizer = optimizer;
      spec.clip = ClipMode::exceeded;
      for (const double norm : norms_of(model, spec, text)) {
        EXPECT_GT(norm, model.clip) << format_case(spec);
      }
      spec.clip = ClipMode::near;
      for (const double norm : norms_of(model, spec, text)) {
        EXPECT_GE(norm, below.least * model.clip_near) << format_case(spec);
        EXPECT_LE(norm, below.most * model.clip_near) << format_case(spec);
      }
    }
  }
}

class ClipLimits : public testing::TestWithParam<std::string> {};

TEST_P(ClipLimits, EveryStepWithZipfTokensExceedsOneAndStaysCloselyBelowTheOther) {
  expect_norms_between(GetParam(), nullptr, {0.5, 0.99});
}

TEST_P(ClipLimits, EveryStepWithProseExceedsOneAndStaysCloselyBelowTheOther) {
  const auto text = prose();
  ASSERT_GT(text->bytes.size(), 10'000U) << MESHPARITY_PROSE;

  expect_norms_between(GetParam(), text, {0.5, 0.99});
}

/// A name of GoogleTest has no "-".
std::string test_name(const TestParamInfo<std::string>& instance) {
  return instance.param.substr(0, instance.param.find('-'));
}

INSTANTIATE_TEST_SUITE_P(Tiny, ClipLimits, testing::Values("gpt-tiny", "llama-tiny", "mixed-tiny"),
                         test_name);

class ClipLimitsOfMicroModels : public testing::TestWithParam<std::string> {};

// Four samples a step are too few for norms of one size.
TEST_P(ClipLimitsOfMicroModels, EveryStepExceedsOneAndStaysBelowTheOther) {
  expect_norms_between(GetParam(), nullptr, {0, 0.99});
}

INSTANTIATE_TEST_SUITE_P(Micro, ClipLimitsOfMicroModels,
                         testing::Values("gpt-micro", "llama-micro", "mixed-micro"), test_name);

}  // namespace
}  // namespace meshparity::reference
