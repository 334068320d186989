// Real programs on every machine that runs on the host: the same bits from all, and what becomes of
// cases on MPI whose ranks die.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"
#include "matrix/mpi_start.hpp"
#include "matrix/run_jobs.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

// Groups of four, where the order of a sum shows, and of eight; all kinds of models.
const std::vector<std::string> kCases = {
    "gpt-micro.dp4-tp2.sp.fp64", "llama-micro.dp2-tp4.mb2.fp32",
    "mixed-micro.tp4.sp-sgd-eager.fp64", "gpt-micro.dp4.lscale.fp32"};

struct Ran {
  std::map<std::string, LaunchOutcome> outcomes;  // by case id
  std::vector<std::string> notes;
};

class Machines : public testing::Test {
 protected:
  Job job(const std::string& case_id) const {
    Job job;
    job.case_id = case_id;
    job.out = scratch_ / case_id;
    job.level = Level::all;
    job.models = MESHPARITY_MODELS;
    std::filesystem::create_directories(job.out);
    return job;
  }
  Ran run(const std::filesystem::path& worker, const std::vector<std::string>& ids) const {
    std::vector<Job> jobs;
    for (const std::string& id : ids) {
      jobs.push_back(job(id));
    }
    LaunchSettings settings{worker, scratch_ / "launches", 1, {}, {}};
    settings.time_limit = std::chrono::seconds(20);
    settings.options = {"--time-limit", "2"};
    std::filesystem::create_directories(settings.folder);
    Ran ran;
    JobHooks hooks;
    hooks.begun = [](std::size_t) {};
    hooks.ended = [&](std::size_t place, const LaunchOutcome& outcome, double) {
      ran.outcomes[ids[place]] = outcome;
    };
    hooks.note = [&](const std::string& text) { ran.notes.push_back(text); };
    run_jobs(jobs, settings, hooks);
    return ran;
  }
  /// `meshparity compare --exact` of two cases that have run.
  int compare(const std::string& a, const std::string& b) const {
    Launch launch({MESHPARITY_PROGRAM, "compare", "--exact", "--across", (scratch_ / a).string(),
                   (scratch_ / b).string()},
                  scratch_ / "compare.log");
    std::string line;
    while (launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line) {
    }
    return launch.wait().exit_code;
  }
  void expect_same_bits(const std::string& machine) const {
    std::vector<std::string> ids;
    for (const std::string& each : kCases) {
      ids.insert(ids.end(), {each + ".host-threads", each + "." + machine});
    }
    const Ran ran = run(MESHPARITY_WORKER, ids);
    for (const std::string& id : ids) {
      EXPECT_TRUE(ran.outcomes.at(id).finished) << id << ": " << ran.outcomes.at(id).what;
    }
    for (std::size_t i = 0; i < ids.size(); i += 2) {
      EXPECT_EQ(compare(ids[i], ids[i + 1]), 0) << ids[i + 1];
    }
  }
  ScratchFolder scratch_;
};

class MachinesMpi : public Machines {
 protected:
  void SetUp() override {
    const std::string why = why_not_started(Machine::host_mpi, MESHPARITY_WORKER);
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

TEST_F(Machines, ProcessesGiveTheBitsOfThreads) {
  expect_same_bits("host-procs");
}

TEST_F(MachinesMpi, MpiGivesTheBitsOfThreads) {
  expect_same_bits("host-mpi");
}

TEST_F(MachinesMpi, EveryRankThatEndsBadlyIsNamedAndTheOtherCasesRun) {
  const auto id = [](int seed) { return fmt::format("gpt-micro.dp4.seed{}.fp64.host-mpi", seed); };
  const std::string plain = "gpt-micro.dp4.plain.fp64.host-mpi";
  const std::vector<std::string> ids = {id(2), id(3), id(4), id(5), id(6), plain};

  const Ran ran = run(MISBEHAVING_WORKER, ids);

  const LaunchOutcome& killed = ran.outcomes.at(id(2));
  EXPECT_FALSE(killed.finished || killed.never_began);
  EXPECT_EQ(killed.rank, 1) << killed.what;
  EXPECT_THAT(killed.what, AnyOf(HasSubstr("signal 9"), HasSubstr("exit code 137")));
  const LaunchOutcome& stopped = ran.outcomes.at(id(3));
  EXPECT_FALSE(stopped.finished || stopped.never_began);
  EXPECT_THAT(stopped.what,
              AllOf(HasSubstr("for rank 1 (dp1), which last entered all_reduce of 1 float64 at "
                              "layer0.attn.out/forward"),
                    HasSubstr("nothing moved for")));
  const LaunchOutcome& threw = ran.outcomes.at(id(4));
  EXPECT_EQ(threw.rank, 1);
  EXPECT_EQ(threw.coordinate, "dp1");
  EXPECT_EQ(threw.what, "out of ideas");
  EXPECT_EQ(ran.outcomes.at(id(5)).what, "1 messages were sent and never received");
  for (const std::string& good : {id(6), plain}) {
    EXPECT_TRUE(ran.outcomes.at(good).finished) << ran.outcomes.at(good).what;
    EXPECT_NO_THROW(DumpReader(scratch_ / good / rank_file_name(2)));
  }
  for (const int seed : {3, 4, 5}) {
    EXPECT_FALSE(std::filesystem::exists(scratch_ / id(seed) / rank_file_name(0)));
  }
}

TEST_F(MachinesMpi, AWorkerThatIsNotThereIsSaid) {
  EXPECT_THAT(why_not_started(Machine::host_mpi, scratch_ / "nothing"),
              AllOf(HasSubstr("nothing-mpi is missing"), HasSubstr("apt-get install")));
  EXPECT_EQ(why_not_started(Machine::host_procs, scratch_ / "nothing"), "");
}

/// A worker for GPUs that says and does this.
void write_cuda_worker(const std::filesystem::path& file, const std::string& script) {
  std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

TEST_F(Machines, WhyAMachineWithGpusCannotRunIsASentence) {
  const std::filesystem::path worker = scratch_ / "worker";
  EXPECT_THAT(why_not_started(Machine::cuda_threads, worker),
              AllOf(HasSubstr("built without CUDA, worker-cuda is missing"),
                    HasSubstr("cmake --preset cuda")));

  write_cuda_worker(scratch_ / "worker-cuda", "echo no GPU of NVIDIA on this machine; exit 3");
  EXPECT_EQ(why_not_started(Machine::cuda_threads, worker), "no GPU of NVIDIA on this machine");

  write_cuda_worker(scratch_ / "worker-cuda", "echo libcublas.so.13: cannot open >&2; exit 127");
  EXPECT_EQ(why_not_started(Machine::cuda_threads, worker),
            "worker-cuda does not say what GPUs there are: libcublas.so.13: cannot open");

  write_cuda_worker(scratch_ / "worker-cuda", "echo 1 x NVIDIA H200; exit 0");
  EXPECT_EQ(why_not_started(Machine::cuda_threads, worker), "");
  EXPECT_EQ(ask_for_gpus(scratch_ / "worker-cuda").said, "1 x NVIDIA H200");
}

}  // namespace
}  // namespace meshparity
