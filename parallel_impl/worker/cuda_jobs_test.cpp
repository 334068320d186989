// Launches with a GPU that is none.
#include "parallel_impl/worker/cuda_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fixtures/dump.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"
#include "parallel_impl/train_on_cuda.hpp"
#include "parallel_impl/worker/small_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

class CudaJobs : public testing::Test {
 protected:
  void SetUp() override { FakeGpu::get().reset(); }
  LaunchEnd run(const std::vector<std::string>& ids) {
    std::vector<Job> jobs;
    for (const std::string& id : ids) {
      jobs.push_back(small_job(folder_, id, id));
    }
    return run_cuda_jobs(jobs, train_on_cuda, kDefaultTimeLimit, events_);
  }
  std::vector<JobEvent> told() const {
    std::vector<JobEvent> events;
    std::istringstream lines(events_.str());
    for (std::string line; std::getline(lines, line);) {
      events.push_back(parse_event(line).value());
    }
    return events;
  }
  ScratchFolder folder_;
  std::ostringstream events_;
};

const std::string kSmall = "gpt-micro.tp2.steps1.fp64.cuda-threads";

TEST_F(CudaJobs, ACaseLeavesItsFilesWithWhatItsBitsDependOn) {
  EXPECT_EQ(run({kSmall}), LaunchEnd::all_done);

  EXPECT_THAT(DumpReader(folder_ / kSmall / rank_file_name(1)).header().determinism,
              HasSubstr("products by cuBLAS"));
}

TEST_F(CudaJobs, AnErrorOfCudaEndsTheLaunch) {
  FakeGpu::get().fail_in_launch(50, cudaErrorIllegalAddress);

  EXPECT_EQ(run({kSmall, "gpt-micro.tp2.steps1-seed2.fp64.cuda-threads"}), LaunchEnd::spent);

  EXPECT_THAT(events_.str(), HasSubstr("cudaErrorIllegalAddress"));
  for (const JobEvent& event : told()) {
    EXPECT_TRUE(event.job == 0 && event.state != JobEvent::State::done);
  }
}

TEST_F(CudaJobs, ACaseOfAnotherMachineIsRefusedAndTheRestRuns) {
  EXPECT_EQ(run({"gpt-micro.tp2.steps1.fp64.host-threads", kSmall}), LaunchEnd::some_refused);

  EXPECT_THAT(events_.str(), HasSubstr("this program runs cuda-threads"));
  EXPECT_NO_THROW(DumpReader(folder_ / kSmall / rank_file_name(0)));
}

}  // namespace
}  // namespace meshparity
