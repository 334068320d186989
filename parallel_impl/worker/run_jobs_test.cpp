#include "parallel_impl/worker/run_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel_impl/worker/small_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

constexpr const char* kTp2 = "gpt-micro.tp2.plain.fp64.host-threads";
constexpr const char* kDp2 = "gpt-micro.dp2.plain.fp64.host-threads";
constexpr const char* kSingle = "gpt-micro.single.plain.fp64.host-threads";

struct Launch {
  bool all_done = false;
  std::vector<JobEvent> events;
};

Launch launch(const std::vector<Job>& jobs, const RankBody& body) {
  std::ostringstream out;
  Launch result;
  result.all_done = run_jobs(jobs, body, kDefaultTimeLimit, out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    result.events.push_back(parse_event(line).value());
  }
  return result;
}

std::vector<JobEvent> of_job(const Launch& launched, std::size_t job) {
  std::vector<JobEvent> events;
  std::copy_if(launched.events.begin(), launched.events.end(), std::back_inserter(events),
               [&](const JobEvent& event) { return event.job == job; });
  return events;
}

TEST(RunJobs, TellsTheBeginningAndTheEndOfEveryCase) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kTp2, "a"), small_job(folder, kDp2, "b"),
                                 small_job(folder, kSingle, "c")};

  const Launch launched = launch(jobs, sum_of_ranks);

  EXPECT_TRUE(launched.all_done);
  EXPECT_EQ(launched.events.size(), 6U);
  for (std::size_t job = 0; job < 3; ++job) {
    const std::vector<JobEvent> events = of_job(launched, job);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].state, JobEvent::State::begun);
    EXPECT_EQ(events[1].state, JobEvent::State::done);
    EXPECT_GT(events[1].seconds, 0.0);
    EXPECT_NO_THROW(DumpReader(jobs[job].out / rank_file_name(0)));
  }
}

/// Looks at the files of each case at the moment when the launch calls it done.
class FilesAtDone : public std::stringbuf {
 public:
  explicit FilesAtDone(const std::vector<Job>& jobs) : jobs_(jobs) {}
  int sync() override {
    const std::string line = str();
    str("");
    const JobEvent event = parse_event(line.substr(0, line.size() - 1)).value();
    if (event.state == JobEvent::State::done) {
      EXPECT_NO_THROW(DumpReader(jobs_[event.job].out / rank_file_name(1)));
      ++done_;
    }
    return 0;
  }
  int done() const { return done_; }

 private:
  const std::vector<Job>& jobs_;
  int done_ = 0;
};

TEST(RunJobs, SaysDoneOnlyWhenTheFilesAreComplete) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kTp2, "a"), small_job(folder, kDp2, "b"),
                                 small_job(folder, kTp2, "c")};
  FilesAtDone watcher(jobs);
  std::ostream out(&watcher);

  EXPECT_TRUE(run_jobs(jobs, sum_of_ranks, kDefaultTimeLimit, out));

  EXPECT_EQ(watcher.done(), 3);
}

TEST(RunJobs, GoesOnAfterACaseThatFails) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kTp2, "a"), small_job(folder, kDp2, "b"),
                                 small_job(folder, kTp2, "c")};

  const Launch launched = launch(jobs, [](const RankContext& context) {
    if (context.mesh.degree(Axis::dp) == 2 && context.mesh.rank() == 1) {
      throw std::runtime_error("lost");
    }
    sum_of_ranks(context);
  });

  EXPECT_FALSE(launched.all_done);
  EXPECT_EQ(of_job(launched, 0).back().state, JobEvent::State::done);
  EXPECT_EQ(of_job(launched, 2).back().state, JobEvent::State::done);
  const JobEvent failed = of_job(launched, 1).back();
  EXPECT_EQ(failed.state, JobEvent::State::failed);
  EXPECT_EQ(failed.rank, 1);
  EXPECT_EQ(failed.coordinate, "dp1");
  EXPECT_EQ(failed.what, "lost");
  EXPECT_FALSE(std::filesystem::exists(jobs[1].out / rank_file_name(0)));
  EXPECT_TRUE(std::filesystem::exists(jobs[1].out / "board.bin"));
}

TEST(RunJobs, TellsWhyACaseCannotBegin) {
  const ScratchFolder folder;

  const Launch launched =
      launch({small_job(folder, "gpt-micro.tp5.plain.fp64.host-threads", "a")}, sum_of_ranks);

  EXPECT_FALSE(launched.all_done);
  ASSERT_EQ(launched.events.size(), 1U);
  EXPECT_EQ(launched.events[0].state, JobEvent::State::failed);
  EXPECT_EQ(launched.events[0].rank, -1);
  EXPECT_THAT(launched.events[0].what, HasSubstr("tp 5"));
}

TEST(RunJobs, CallsFilesThatCannotBeWrittenAFailure) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kTp2, "a"), small_job(folder, kTp2, "b")};
  folder.write("b/" + rank_file_name(1), "somebody else's");  // the last: nothing follows it

  const Launch launched = launch(jobs, sum_of_ranks);

  EXPECT_FALSE(launched.all_done);
  EXPECT_EQ(of_job(launched, 0).back().state, JobEvent::State::done);
  EXPECT_EQ(of_job(launched, 1).back().state, JobEvent::State::failed);
  EXPECT_THAT(of_job(launched, 1).back().what, HasSubstr(rank_file_name(1)));
}

// The first case leaves hundreds of pieces, the second hardly any: with two threads writing at
// once the second would be done first.
TEST(RunJobs, WritesOneCaseAtATime) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kDp2, "a"), small_job(folder, kTp2, "b")};

  const Launch launched = launch(jobs, [](const RankContext& context) {
    const int steps = context.mesh.degree(Axis::dp) == 2 ? 300 : 1;
    for (int step = 0; step < steps; ++step) {
      const std::vector<double> loss = {1.0};
      context.recorder.record(Phase::loss, "loss",
                              {step, 0, whole(std::vector<std::int64_t>{1}), "dp"},
                              std::span<const double>(loss));
    }
  });

  std::vector<std::size_t> done;
  for (const JobEvent& event : launched.events) {
    if (event.state == JobEvent::State::done) {
      done.push_back(event.job);
    }
  }
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1}));
}

std::vector<std::vector<double>> values_of(const Job& job) {
  const DumpReader reader(job.out / rank_file_name(0));
  std::vector<std::vector<double>> values;
  for (const Piece& piece : reader.pieces()) {
    values.push_back(reader.read(piece));
  }
  return values;
}

// Sums whose bits depend on everything that a case could inherit from the one before it.
void rounding_sums(const RankContext& context) {
  std::vector<double> sum = {1.0 / (3 + context.mesh.rank())};
  for (int round = 0; round < 20; ++round) {
    context.comm.all_reduce<double>(context.mesh.group({Axis::dp, Axis::tp}), sum, ReduceOp::sum,
                                    {0, "mlp.down", "forward", 0, round});
    sum[0] = sum[0] / 3 + context.mesh.rank();
  }
  context.recorder.record(Phase::loss, "loss", {0, 0, whole(std::vector<std::int64_t>{1}), ""},
                          std::span<const double>(sum));
}

TEST(RunJobs, TheOrderOfCasesChangesNoBit) {
  const ScratchFolder folder;
  const std::vector<std::string> ids = {kTp2, kDp2, kSingle,
                                        std::string(kTp2) + "+skip_rowlinear_sum"};
  std::vector<Job> forwards;
  std::vector<Job> backwards;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    forwards.push_back(small_job(folder, ids[i], "f" + std::to_string(i)));
    backwards.push_back(small_job(folder, ids[i], "b" + std::to_string(i)));
  }
  std::vector<Job> reversed(backwards.rbegin(), backwards.rend());

  EXPECT_TRUE(launch(forwards, rounding_sums).all_done);
  EXPECT_TRUE(launch(reversed, rounding_sums).all_done);

  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(values_of(forwards[i]), values_of(backwards[i]));
  }
  EXPECT_NE(values_of(forwards[0]), values_of(forwards[3]));
}

}  // namespace
}  // namespace meshparity
