// The real program: its exits and what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fixtures/job.hpp"
#include "parallel_impl/worker/small_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

struct Output {
  int exit = -1;
  std::string text;  // both streams
};

Output worker(const std::string& arguments) {
  const std::string command = std::string(MESHPARITY_WORKER) + " " + arguments + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  Output output;
  std::vector<char> buffer(4096);
  while (const std::size_t size = ::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.text.append(buffer.data(), size);
  }
  output.exit = WEXITSTATUS(::pclose(pipe));
  return output;
}

Output run(const ScratchFolder& folder, const std::vector<Job>& jobs) {
  std::string lines;
  for (const Job& job : jobs) {
    lines += format_job(job) + "\n";
  }
  return worker("--jobs " + folder.write("jobs", lines).string());
}

TEST(WorkerProgram, RunsItsJobsAndEndsWithZero) {
  const ScratchFolder folder;
  const Job job = small_job(folder, "gpt-micro.dp2-tp2.plain.fp64.host-threads", "a");

  const Output output = run(folder, {job});

  EXPECT_EQ(output.exit, 0) << output.text;
  EXPECT_GT(DumpReader(job.out / rank_file_name(3)).pieces().size(), 50U);
}

TEST(WorkerProgram, EndsWithThreeWhenACaseFailed) {
  const ScratchFolder folder;
  const Output output =
      run(folder, {small_job(folder, "gpt-micro.tp5.plain.fp64.host-threads", "a"),
                   small_job(folder, "gpt-micro.single.plain.fp64.host-threads", "b")});

  EXPECT_EQ(output.exit, 3) << output.text;
  EXPECT_NO_THROW(DumpReader(folder / "b/rank_0000.h5"));
}

TEST(WorkerProgram, EndsWithTwoAndOneLineWhenItIsCalledWrongly) {
  for (const std::string arguments :
       {"", "--jobs /does/not/exist", "--nonsense", "--jobs", "--jobs x --time-limit soon",
        "--jobs x --time-limit 0", "--jobs x --time-limit nan", "--jobs x --time-limit 5s"}) {
    const Output output = worker(arguments);
    EXPECT_EQ(output.exit, 2) << arguments << ": " << output.text;
    EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 1) << output.text;
    EXPECT_THAT(output.text, HasSubstr("meshparity-worker: "));
  }
  EXPECT_EQ(worker("--help").exit, 0);
}

}  // namespace
}  // namespace meshparity
