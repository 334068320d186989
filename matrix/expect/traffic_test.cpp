// Closed forms of algorithms.md §11.1 against the list of calls, layout by layout.
#include "matrix/expect/traffic.hpp"

#include <gtest/gtest.h>

#include "fixtures/legality.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity::expect {
namespace {

AxisTraffic along(const std::vector<CollectiveRow>& rows, const std::string& axis, int step) {
  std::vector<CollectiveRow> of_step;
  for (const CollectiveRow& row : rows) {
    if (row.step == step && row.site != "loss/scalar") {
      of_step.push_back(row);
    }
  }
  for (const AxisTraffic& each : traffic_of(of_step)) {
    if (each.axis == axis) {
      return each;
    }
  }
  return {axis, 0, 0};
}

// gpt-micro.tp2.mb2: A = 80, T = 10, L = 1: 2 (80 * 6 + 10 * 4) = 1,040 numbers in 18 calls, and 71
// integers.
TEST(Traffic, OfOneLayerIsWhatOneCountsByHand) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro.tp2.mb2.fp64.host-threads");

  EXPECT_EQ(traffic_along({spec, model}, 0, "tp"), (AxisTraffic{"tp", 19, (1040 + 71) * 8}));
}

// Its 21 tensors: embedding and head 128 each, positions 40, norms 3 x 16, q k v out 72 each, up
// 8 x 12 + 12, down 12 x 8 + 8, together 844; and 72 integers.
TEST(Traffic, OfAReplicaIsEveryParameterOnce) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro.dp2.plain.fp32.host-threads");

  EXPECT_EQ(traffic_along({spec, model}, 0, "dp"), (AxisTraffic{"dp", 22, 844 * 4 + 72 * 8}));
}

const std::vector<std::string> kModels = {"gpt-micro", "llama-micro", "mixed-micro",
                                          "gpt-tiny",  "llama-tiny",  "mixed-tiny"};

/// Every axis of the last rank's ledger and every rank of an end of the pipeline.
void expect_closed_form(const CaseSpec& spec, const ModelSpec& model) {
  SCOPED_TRACE(format_case(spec));
  const int world = spec.mesh.world_size();
  for (const int rank : {0, world / 2, world - 1}) {
    const auto rows = calls_of({spec, model}, Level::standard, rank);
    for (const char* axes : {"tp", "dp", "pp", "dp,pp", "tp,pp", "dp,tp", "dp,tp,pp"}) {
      if (spec.mesh.degree(axes_named(axes).front()) > 1) {
        ASSERT_EQ(along(rows, axes, 2), traffic_along({spec, model}, rank, axes)) << rank;
      }
    }
  }
}

int expect_in_layouts(const std::vector<std::string>& meshes,
                      const std::vector<std::string>& features) {
  int layouts = 0;
  for (const std::string& name : kModels) {
    const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
    for (const std::string& mesh : meshes) {
      for (const std::string& feature : features) {
        const CaseSpec spec = parse_case(name + "." + mesh + "." + feature +
                                         (layouts % 2 ? ".fp32" : ".fp64") + ".host-threads");
        if (!why_illegal(model, spec)) {
          expect_closed_form(spec, model);
          ++layouts;
        }
      }
    }
  }
  return layouts;
}

TEST(Traffic, InClosedFormIsThatOfTheListInEveryLayout) {
  EXPECT_GT(expect_in_layouts({"dp2", "tp2", "tp3", "tp4", "tp6", "tp8", "dp2-tp2", "dp4-tp12"},
                              {"plain", "mb2", "lscale", "smooth0", "gradcomm_bf16", "sp",
                               "sp-mb2-lscale", "mb2-rc_full", "sp-rc_full"}),
            150);
}

TEST(Traffic, InClosedFormIsThatOfTheListOnEveryStage) {
  EXPECT_GT(expect_in_layouts({"pp2", "pp4", "dp2-pp2", "tp2-pp2", "dp2-tp2-pp4", "tp4-pp8"},
                              {"naive-mb2", "gpipe-mb4-lscale", "1f1b-mb4", "int2-mb4", "zbh1-mb4",
                               "zbh2-mb12", "zbv-mb12", "sp-zbv-mb12-rc_full", "sp-1f1b-mb4"}),
            100);
}

// Steps overlap: rows of step 2 are those of its micro-batches, wherever they stand.
TEST(Traffic, InClosedFormIsThatOfTheListOfStepsThatOverlap) {
  EXPECT_GT(expect_in_layouts({"pp2", "pp4", "dp2-pp2", "tp2-pp2", "dp2-tp2-pp2", "tp3-pp4"},
                              {"pipedream-mb4-clip_off", "pipedream_vsync-mb6-clip_off",
                               "pipedream_2bw-mb4-clip_off", "sp-pipedream-mb6-rc_full-clip_off",
                               "sp-pipedream_2bw-mb4-clip_off"}),
            20);
}

TEST(Traffic, InClosedFormIsThatOfTheListForShardsByRows) {
  EXPECT_GT(expect_in_layouts({"dp2", "dp3"}, {"mb2-zero1_param", "mb2-zero2_param",
                                               "mb2-zero3_param", "mb2-zero2_param-gradcomm_bf16"}),
            20);
  EXPECT_GT(expect_in_layouts({"dp2-pp2"}, {"1f1b-mb2-zero1_param", "zbh1-mb2-zero3_param"}), 10);
}

// A flat bucket is padded to a multiple of dp, at most dp - 1 numbers a call.
TEST(Traffic, OfFlatBucketsIsThatOfRowsAndTheirPadding) {
  for (const std::string& name : kModels) {
    const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
    for (const char* features : {"mb2-zero1", "mb2-zero2-bucket1", "mb2-zero3", "zero3-bucket2"}) {
      const CaseSpec spec =
          parse_case(name + std::string(".dp3.") + features + ".fp64.host-threads");
      if (why_illegal(model, spec)) {
        continue;
      }
      const AxisTraffic done = along(calls_of({spec, model}, Level::standard, 1), "dp", 0);
      const AxisTraffic due = traffic_along({spec, model}, 1, "dp");
      EXPECT_GE(done.bytes, due.bytes) << format_case(spec);
      EXPECT_LE(done.bytes, due.bytes + done.calls * 2 * 8) << format_case(spec);
    }
  }
}

// What norms and row biases need is added once, by the replicas together.
TEST(Traffic, OfTensorRanksIsSharedByTheReplicas) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-tiny");
  const CaseSpec sharded = parse_case("gpt-tiny.dp3-tp2.sp-zero2.fp64.host-threads");
  const CaseSpec whole = parse_case("gpt-tiny.dp3-tp2.sp.fp64.host-threads");
  std::int64_t bytes = 0;
  for (const int rank : {0, 2, 4}) {
    for (const CollectiveRow& row : calls_of({sharded, model}, Level::standard, rank)) {
      bytes += row.step == 0 && row.site == "grad.sp/grad" ? row.bytes : 0;
    }
  }
  for (const CollectiveRow& row : calls_of({whole, model}, Level::standard, 0)) {
    bytes -= row.step == 0 && row.site == "grad.sp/grad" ? row.bytes : 0;
  }
  EXPECT_EQ(bytes, 0);
}

}  // namespace
}  // namespace meshparity::expect
