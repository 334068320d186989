// The real programs: what the worker does is what the schedule asks for, and it says so.
#include "matrix/cli/checked_run.hpp"

namespace meshparity {
namespace {

// A rank alone lists F, B of two micro-batches, reduce and step, three times.
TEST(ScheduleRun, ComparesTheListOfARankWithoutAPipeline) {
  const nlohmann::json check =
      check_of_run(MESHPARITY_PROGRAM, "gpt-micro.single.mb2.fp64.host-threads", "schedule");

  EXPECT_EQ(check.at("verdict"), "conforms") << check.dump();
  EXPECT_EQ(check.at("compared"), 3 * (2 * 2 + 2));
}

// Two stages of ZB-H1, four micro-batches: F, B, W and two messages of each, reduce and step at
// the end; also in processes, where the clock travels with the message.
TEST(ScheduleRun, ComparesTheListsOfAPipeline) {
  for (const char* machine : {"host-threads", "host-procs"}) {
    const nlohmann::json check =
        check_of_run(MESHPARITY_PROGRAM,
                     std::string("gpt-micro.pp2.zbh1-mb4-steps1.fp64.") + machine, "schedule");

    EXPECT_EQ(check.at("verdict"), "conforms") << check.dump();
    EXPECT_EQ(check.at("compared"), 2 * (4 * (3 + 2) + 2));
    EXPECT_EQ(check.at("notes").at(0),
              "bubble 1 of 13 units: 7.7 % of the whole time (beta_tot), 8.3 % of the ideal time "
              "(beta_id)");
  }
}

}  // namespace
}  // namespace meshparity
