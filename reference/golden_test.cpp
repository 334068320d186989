// The reference program against PyTorch's autograd: fixtures/golden/*.h5, and where an interpreter
// with PyTorch is found the same made afresh, with every element, for every model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "fixtures/scratch_folder.hpp"
#include "reference/golden_case.hpp"
#include "reference/golden_comparison.hpp"

namespace meshparity {
namespace {

using testing::TestParamInfo;
using testing::TestWithParam;
using testing::Values;

struct StoredGolden {
  std::string model;
  std::string optimizer;
};

void PrintTo(const StoredGolden& golden, std::ostream* out) {
  *out << golden.model << " " << golden.optimizer;
}

std::string id_of(const std::string& model, const std::string& features) {
  return fmt::format("{}.single.{}.fp64.host-threads", model, features);
}

/// A name of GoogleTest has no "-".
std::string test_name(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

void expect_equal(const GoldenCase& both) {
  expect_equal_network(both);
  expect_equal_update(both);
}

class Golden : public TestWithParam<StoredGolden> {};

TEST_P(Golden, TheReferenceIsPyTorchWhereANumberIsStored) {
  const auto& [model, optimizer] = GetParam();
  const std::string file = fmt::format("{}/{}.{}.h5", MESHPARITY_GOLDEN, model, optimizer);

  const bool micro = model.ends_with("-micro");  // of the others one step is stored
  const std::string steps = micro ? "plain" : "steps1";
  const std::string features = optimizer == "adamw" ? steps
                               : micro              ? optimizer
                                                    : optimizer + "-" + steps;

  const GoldenCase both(id_of(model, features), file, Level::standard);

  expect_equal(both);
}

INSTANTIATE_TEST_SUITE_P(
    Stored, Golden,
    Values(StoredGolden{"gpt-micro", "adamw"}, StoredGolden{"gpt-micro", "momentum"},
           StoredGolden{"gpt-tiny", "adamw"}, StoredGolden{"llama-micro", "adamw"},
           StoredGolden{"llama-tiny", "adamw"}, StoredGolden{"mixed-micro", "adamw"},
           StoredGolden{"mixed-tiny", "sgd"}),
    [](const TestParamInfo<StoredGolden>& instance) {
      return test_name(instance.param.model + "_" + instance.param.optimizer);
    });

// Where only theory makes a gradient zero, the processor decides whether rounding leaves a trace.
TEST(GoldenOfZero, MayBeExactlyZeroOnOneSide) {
  GoldenCase both(id_of("gpt-micro", "plain"),
                  fmt::format("{}/gpt-micro.adamw.h5", MESHPARITY_GOLDEN), Level::standard);

  both.forget_gradient("layer0.attn.k.bias");

  expect_equal_update(both);
}

class GoldenPipelines : public TestWithParam<const char*> {};

// Two batches of four micro-batches on two stages.
TEST_P(GoldenPipelines, StagesThatDoNotWaitComputeWhatTheirEventsSay) {
  const std::string schedule = GetParam();
  const std::string id = fmt::format(
      "llama-micro.pp2.{}-mb4-sgd-clip_off-maskfull-steps2.fp64.host-threads", schedule);

  const GoldenCase both(id, fmt::format("{}/llama-micro.{}.h5", MESHPARITY_GOLDEN, schedule),
                        Level::standard);

  expect_equal(both);
}

INSTANTIATE_TEST_SUITE_P(Stored, GoldenPipelines,
                         Values("pipedream", "pipedream_vsync", "pipedream_2bw"),
                         [](const TestParamInfo<const char*>& instance) {
                           return std::string(instance.param);
                         });

struct FreshGolden {
  std::string model;
  std::string features;
  std::string mesh = "single";
};

void PrintTo(const FreshGolden& golden, std::ostream* out) {
  *out << golden.model << " " << golden.features;
}

class GoldenAfresh : public TestWithParam<FreshGolden> {};

TEST_P(GoldenAfresh, TheReferenceIsPyTorchInEveryElement) {
  if (!torch_is_here()) {
    GTEST_SKIP() << MESHPARITY_PYTHON << " has no PyTorch, NumPy and h5py: only the part of "
                 << "PyTorch's numbers that is stored was compared";
  }
  const auto& [model, features, mesh] = GetParam();
  const std::string id = fmt::format("{}.{}.{}.fp64.host-threads", model, mesh, features);
  const bool micro = model.ends_with("-micro");  // a tiny one has 500 MB of records
  const ScratchFolder folder;
  const auto golden = make_golden(id, folder.path(), micro);

  const GoldenCase both(id, golden, micro ? Level::all : Level::standard);

  expect_equal(both);
  if (micro) {
    expect_all_records(both);
  }
}

constexpr const char* kKind = "momentum-clip_near-drop0-smooth0-maskfull-seed3";

INSTANTIATE_TEST_SUITE_P(
    Fresh, GoldenAfresh,
    Values(FreshGolden{"gpt-micro", "plain"}, FreshGolden{"gpt-micro", kKind},
           FreshGolden{"gpt-micro", "lscale"}, FreshGolden{"gpt-micro", "mb2-loss_mbmean"},
           FreshGolden{"mixed-micro", "mb4-sgd-loss_legacy-lscale"}, FreshGolden{"gpt-tiny", "sgd"},
           FreshGolden{"llama-micro", "plain"}, FreshGolden{"llama-micro", kKind},
           FreshGolden{"llama-tiny", "sgd"}, FreshGolden{"mixed-micro", "plain"},
           FreshGolden{"mixed-micro", kKind}, FreshGolden{"mixed-tiny", "plain"},
           FreshGolden{"llama-micro", "pipedream-mb4-momentum-clip_off-maskfull", "pp3"},
           FreshGolden{"llama-micro", "pipedream_vsync-mb4-sgd-clip_off-maskfull-split2_1", "pp2"},
           FreshGolden{"llama-micro", "pipedream-mb2-sgd-clip_off-maskfull-loss_mbmean", "dp2-pp2"},
           FreshGolden{"llama-micro", "pipedream_2bw-mb4-clip_off-maskfull", "pp2"}),
    [](const TestParamInfo<FreshGolden>& instance) {
      return test_name(instance.param.model + "_" + instance.param.mesh + "_" +
                       instance.param.features);
    });

}  // namespace
}  // namespace meshparity
