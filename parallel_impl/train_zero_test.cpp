// ZeRO changes where gradients, moments and values lie, and no bit of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += name + "\n";
  }
  return text;
}

/// All records of both are the same bits, wherever they were; and what pads buckets is zero.
void expect_equal(const CaseRun& a, const CaseRun& b, const std::string& what) {
  EXPECT_EQ(join(a.complaints), "") << what;
  EXPECT_EQ(join(b.complaints), "") << what;
  EXPECT_EQ(a.records.size(), b.records.size()) << what;
  EXPECT_EQ(join(differing(a, b, "")), "") << what;
}

void expect_zero_padding(const CaseRun& run, const std::string& what) {
  for (const auto& locals : run.locals) {
    for (const auto& [path, values] : locals) {
      if (path.starts_with("pad/")) {
        EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double v) { return v == 0; }))
            << what << " " << path;
      }
    }
  }
}

struct Cut {
  int stage = 0;
  bool by_parameter = false;
  int bucket = 0;
  bool overlap = true;
};

/// The id of a case without ZeRO, with it.
std::string with(const char* id, const Cut& cut) {
  CaseSpec spec = parse_case(id);
  spec.zero_stage = cut.stage;
  spec.zero_by_parameter = cut.by_parameter;
  spec.bucket_kibi_elements = cut.bucket;
  spec.overlap = cut.overlap;
  return format_case(spec);
}

CaseRun run_of(const std::string& id) {
  return run_whole_case(id, Level::all);
}

const char* const kLayouts[] = {
    "gpt-micro.dp2.mb2-steps2.fp64.host-threads",
    "gpt-micro.dp4-tp2.sp-steps2.fp64.host-threads",
    "llama-micro.dp2-tp4.sp-mb2-steps2.fp64.host-threads",
    "mixed-micro.dp2-tp2.mb2-lscale.fp64.host-threads",
};

void expect_cuts_equal(const CaseRun& one, const char* layout, const std::vector<Cut>& cuts) {
  for (const Cut& cut : cuts) {
    const std::string id = with(layout, cut);
    const CaseRun run = run_of(id);
    expect_equal(one, run, id);
    expect_zero_padding(run, id);
  }
}

TEST(Zero, StageOneHasTheBitsOfNone) {
  for (const char* layout : kLayouts) {
    expect_cuts_equal(run_of(layout), layout, {{1}, {1, true}, {1, false, 1}, {0, false, 1}});
  }
}

// With one micro-batch all stages have the bits of none.
TEST(Zero, ThreeRanksCutATinyModelWhereItDoesNotDivide) {
  const char* const layout = "gpt-tiny.dp3.clip_near-steps1.fp32.host-threads";
  expect_cuts_equal(run_of(layout), layout, {{1, false, 8}, {3, true}});
}

TEST(Zero, WithOneMicroBatchStageTwoHasTheBitsOfNone) {
  for (const char* layout : {"gpt-micro.dp4.steps2.fp64.host-threads",
                             "llama-micro.dp2-tp4.sp-steps2.fp32.host-threads"}) {
    expect_cuts_equal(run_of(layout), layout, {{2}, {2, true, 0, false}, {2, false, 1}});
  }
}

TEST(Zero, CutsAndOverlapChangeNoBitOfStageTwo) {
  for (const char* layout : kLayouts) {
    const CaseRun whole = run_of(with(layout, {2}));
    expect_cuts_equal(whole, layout, {{2, true}, {2, false, 1, false}});
  }
}

TEST(Zero, StageThreeHasTheBitsOfStageTwo) {
  for (const char* layout : kLayouts) {
    const CaseRun two = run_of(with(layout, {2}));
    expect_cuts_equal(two, layout, {{3}, {3, true, 0, false}, {3, false, 1, false}});
  }
}

// Stage 2 sums each micro-batch over ranks first, so its pipelines have one another's bits.
TEST(Zero, SchedulesAndRecomputationChangeNoBitOfStagesTwoAndThree) {
  const CaseRun flat = run_of("gpt-micro.dp2.mb2-zero2-steps2.fp64.host-threads");
  for (const char* id : {"gpt-micro.dp2-pp2.1f1b-mb2-zero2-steps2.fp64.host-threads",
                         "gpt-micro.dp2-pp2.zbh1-mb2-zero2_param-steps2.fp64.host-threads",
                         "gpt-micro.dp2-pp2.gpipe-mb2-zero3-rc_full-steps2.fp64.host-threads",
                         "gpt-micro.dp2-pp2.zbh1-mb2-zero3-bucket1-steps2.fp64.host-threads",
                         "gpt-micro.dp2.mb2-zero3-rc_full-steps2.fp64.host-threads"}) {
    const CaseRun cut = run_of(id);
    expect_equal(flat, cut, id);
    expect_zero_padding(cut, id);
  }
}

TEST(Zero, MastersAreCutToo) {
  const char* const layout = "gpt-micro.dp2-tp2.mb2-master64-steps2.fp32.host-threads";
  const CaseRun none = run_of(layout);
  expect_cuts_equal(none, layout, {{1}, {1, true}});

  const std::vector<double>& masters = none.records.at("step1/master/layer0.mlp.up.weight");
  const std::vector<double>& params = none.records.at("step1/param/layer0.mlp.up.weight");
  int finer = 0;
  for (std::size_t i = 0; i < masters.size(); ++i) {
    ASSERT_EQ(params[i], static_cast<double>(static_cast<float>(masters[i])));
    finer += params[i] != masters[i] ? 1 : 0;
  }
  EXPECT_GT(finer, 90) << "of " << masters.size();
}

/// Bytes at the peak on rank 0, by tag.
std::int64_t peak(const CaseRun& run, const std::string& tag) {
  for (const MemoryRow& row : run.memory.front()) {
    if (row.tag == tag) {
      return row.peak;
    }
  }
  return -1;
}

// gpt-micro: the embedding has 16 x 8 = 128 elements with its padding and is tied; the others are
// counted. On 4 ranks each bucket is padded.
TEST(Zero, EachStageKeepsLessMemory) {
  const char* const layout = "gpt-micro.dp4.steps1.fp64.host-threads";
  std::int64_t others = 0;
  for (const ParamSpec& param : param_table(load_named_model(MESHPARITY_MODELS, "gpt-micro"))) {
    others += param.name.ends_with("embed.weight") || param.name == "head.weight"
                  ? 0
                  : element_count(param.shape);
  }
  const std::int64_t part = (others + 3) / 4;

  const CaseRun none = run_of(layout);
  EXPECT_EQ(peak(none, "gradient"), 8 * (others + 2 * 128));
  EXPECT_EQ(peak(none, "optimizer"), 2 * 8 * (others + 128));
  const CaseRun one = run_of(with(layout, {1}));
  EXPECT_EQ(peak(one, "parameter"), 8 * (4 * part + 128));
  EXPECT_EQ(peak(one, "gradient"), 8 * (4 * part + 2 * 128));
  // Rank 0's part has no padding.
  EXPECT_EQ(peak(one, "optimizer"), 2 * 8 * (part + 32));
  const CaseRun two = run_of(with(layout, {2}));
  EXPECT_EQ(peak(two, "parameter"), 8 * (4 * part + 128));
  EXPECT_EQ(peak(two, "gradient"), 8 * (part + 2 * 32));
  EXPECT_EQ(peak(two, "optimizer"), 2 * 8 * (part + 32));
  // Each piece is padded for itself: none of gpt-micro's needs it.
  const CaseRun three = run_of(with(layout, {3}));
  EXPECT_EQ(others % 4, 0);
  EXPECT_EQ(peak(three, "parameter"), 8 * (part + 32));
  EXPECT_EQ(peak(three, "gradient"), 8 * (part + 2 * 32));
  EXPECT_EQ(peak(three, "optimizer"), 2 * 8 * (part + 32));
}

}  // namespace
}  // namespace meshparity
