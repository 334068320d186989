// ZeRO changes where gradients, moments and values lie, and no bit of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixtures/case_spec.hpp"
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
    "gpt-tiny.dp3.clip_near-steps2.fp32.host-threads",
    "gpt-micro.dp4-tp2.sp-steps2.fp64.host-threads",
    "llama-micro.dp2-tp4.sp-mb2-steps2.fp64.host-threads",
    "mixed-micro.dp2-tp2.mb2-lscale.fp64.host-threads",
};

TEST(Zero, StageOneHasTheBitsOfNone) {
  for (const char* layout : kLayouts) {
    const CaseRun none = run_of(layout);
    for (const Cut& cut : {Cut{1}, Cut{1, true}, Cut{1, false, 1}, Cut{0, false, 1}}) {
      const std::string id = with(layout, cut);
      const CaseRun run = run_of(id);
      expect_equal(none, run, id);
      expect_zero_padding(run, id);
    }
  }
}

}  // namespace
}  // namespace meshparity
