// The real programs: what the worker's allocator counts is what the formula asks for, on threads
// and in processes of their own.
#include "matrix/cli/checked_run.hpp"

namespace meshparity {
namespace {

// Four ranks, five tags, at the end and at the peak.
TEST(MemoryRun, CountsWhatWasDueOnEveryRank) {
  for (const char* machine : {"host-threads", "host-procs"}) {
    const nlohmann::json check = check_of_run(
        MESHPARITY_PROGRAM,
        std::string("gpt-micro.dp2-tp2.sp-mb2-momentum-drop0-steps1.fp32.") + machine, "memory");

    EXPECT_EQ(check.at("verdict"), "conforms") << check.dump();
    EXPECT_EQ(check.at("evidence"), true);
    EXPECT_EQ(check.at("compared"), 4 * 5 * 2);
  }
}

}  // namespace
}  // namespace meshparity
