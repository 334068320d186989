// The program and its jobs: what lies in the folder afterwards, events, exit codes.
#include "reference/run_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "fixtures/case_field_changes.hpp"
#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "reference/micro_case.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

constexpr const char* kMicro = "gpt-micro.single.plain.fp64.host-threads";

Job job_into(const std::filesystem::path& folder, const std::string& case_id) {
  std::filesystem::create_directory(folder);
  Job job;
  job.case_id = case_id;
  job.out = folder;
  job.models = MESHPARITY_MODELS;
  job.commit = "a test";
  return job;
}

TEST(RunJob, WritesEveryRecordOfTheLevelForEveryStep) {
  const ScratchFolder scratch;
  for (const Level level : {Level::final, Level::standard, Level::all}) {
    Job job = job_into(scratch / std::string(level_name(level)), kMicro);
    job.level = level;
    run_job(job, 1);

    const DumpReader dump(job.out / rank_file_name(0));
    const CaseSpec spec = parse_case(kMicro);
    std::vector<RecordSpec> expected;
    for (const RecordSpec& record :
         record_table(load_named_model(MESHPARITY_MODELS, "gpt-micro"), spec)) {
      if (record.level <= level) {
        expected.push_back(record);
      }
    }
    const std::vector<RecordRow> rows = dump.records();
    ASSERT_EQ(rows.size(), 3 * expected.size());
    ASSERT_EQ(dump.pieces().size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RecordSpec& record = expected[i % expected.size()];
      const Piece& piece = dump.pieces()[i];
      EXPECT_EQ(rows[i].record.name, record.name);
      EXPECT_EQ(rows[i].step, static_cast<int>(i / expected.size()));
      EXPECT_EQ(piece.record, record.name);
      EXPECT_EQ(piece.phase, record.phase);
      EXPECT_EQ(piece.order, record.order);
      EXPECT_EQ(piece.step, rows[i].step);
      EXPECT_EQ(piece.placement, whole(record.shape));
    }
  }
}

TEST(RunJob, WritesIntegersAsIntegers) {
  const ScratchFolder scratch;
  const Job job = job_into(scratch / "out", kMicro);
  run_job(job, 1);
  const DumpReader dump(job.out / rank_file_name(0));
  std::vector<std::vector<std::int64_t>> of_step1;
  for (const Piece& piece : dump.pieces()) {
    if (piece.phase == Phase::exact && piece.step == 1) {
      of_step1.push_back(dump.read_integers(piece));
    }
  }
  // sample_ids of a batch of 4, steps taken, (seed, step)
  EXPECT_THAT(of_step1, testing::ElementsAre(testing::ElementsAre(4, 5, 6, 7),
                                             testing::ElementsAre(2), testing::ElementsAre(1, 1)));
}

TEST(RunJob, WritesCompanionsInputsAndTheCaseBesideTheDump) {
  const ScratchFolder scratch;
  Job job = job_into(scratch / "out", kMicro);
  job.companions = true;
  run_job(job, 2);
  const CompanionReader companions(job.out / "companions_fp32.h5");
  EXPECT_EQ(companions.lane(), "fp32");
  EXPECT_EQ(companions.read(2, Phase::grad, "layer0.mlp.up.weight").samples, kReplicas);
  EXPECT_TRUE(companions.has(0, Phase::backward, "logits"));
  EXPECT_FALSE(companions.has(0, Phase::param, "embed.weight"));
  EXPECT_TRUE(std::filesystem::exists(job.out / "inputs.h5"));
  EXPECT_TRUE(std::filesystem::exists(job.out / "case.json"));
}

// 4 samples, S 5, h 8, 4 heads: 3 sites of 160 words and 400 of attention, in each of 3 steps.
TEST(RunJob, GivesTheWordsOfDropoutAtLevelAll) {
  const ScratchFolder scratch;
  const auto inputs_size = [&](Level level) {
    Job job = job_into(scratch / std::string(level_name(level)), kMicro);
    job.level = level;
    run_job(job, 1);
    return std::filesystem::file_size(job.out / "inputs.h5");
  };
  EXPECT_GE(inputs_size(Level::all), inputs_size(Level::standard) + 3 * (3 * 160 + 400) * 4);
}

using Contents = std::map<std::string, std::vector<double>>;

/// By path, masters apart.
std::pair<Contents, Contents> contents_of(const Job& job) {
  const DumpReader dump(job.out / rank_file_name(0));
  Contents values;
  Contents masters;
  for (const Piece& piece : dump.pieces()) {
    (piece.phase == Phase::master ? masters : values)[piece.path] = dump.read(piece);
  }
  return {values, masters};
}

// Every field of a case that its key does not hold: the same numbers, and masters where the case
// keeps them.
TEST(RunJob, TogglingAFeatureOutsideTheKeyChangesNoNumber) {
  int toggled = 0;
  for (FieldChange& change : one_change_per_field()) {
    change.before.model = change.after.model = "gpt-micro";
    if (reference_key(change.before) != reference_key(change.after)) {
      continue;
    }
    const ScratchFolder scratch;
    const Job before = job_into(scratch / "before", format_case(change.before));
    const Job after = job_into(scratch / "after", format_case(change.after));
    run_job(before, 1);
    run_job(after, 1);
    EXPECT_EQ(contents_of(before).first, contents_of(after).first) << change.field;
    ++toggled;
  }
  EXPECT_GE(toggled, 20);
}

TEST(RunJob, HoldsMastersWhereTheCandidateKeepsThem) {
  const ScratchFolder scratch;
  const Job fp64 = job_into(scratch / "fp64", kMicro);
  const Job bf16 = job_into(scratch / "bf16", "gpt-micro.dp2-tp2.mb2.bf16.host-threads");
  run_job(fp64, 1);
  run_job(bf16, 1);
  const auto [values, masters] = contents_of(bf16);
  EXPECT_EQ(values, contents_of(fp64).first);
  EXPECT_TRUE(contents_of(fp64).second.empty());
  EXPECT_EQ(masters.at("/step2/master/embed.weight/mb0"),
            values.at("/step2/param/embed.weight/mb0"));
  int rows = 0;
  for (const RecordRow& row : DumpReader(bf16.out / rank_file_name(0)).records()) {
    rows += row.record.phase == Phase::master ? 1 : 0;
  }
  EXPECT_EQ(rows, static_cast<int>(masters.size()));
}

TEST(RunJob, RefusesWhatItCannotComputeInOneLine) {
  const ScratchFolder scratch;
  const auto message = [&](const std::string& id) {
    return message_of<UsageError>([&] { run_job(job_into(scratch / "out", id), 1); });
  };
  EXPECT_THAT(message("gpt-micro.single.packed.fp64.host-threads"),
              testing::HasSubstr("packed documents not built yet"));
  EXPECT_THAT(message("gpt-none.single.plain.fp64.host-threads"), testing::HasSubstr("gpt-none"));
  EXPECT_THAT(message("gpt-micro.single"), testing::Not(testing::IsEmpty()));
}

/// Exit code and both outputs of the program.
struct Ran {
  int exit = -1;
  std::string out;
};
Ran run_program(const std::string& arguments) {
  const std::string command = std::string(MESHPARITY_REFERENCE) + " " + arguments + " 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  Ran ran;
  std::array<char, 4096> buffer;
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ran.out.append(buffer.data(), count);
  }
  const int status = ::pclose(pipe);
  ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

TEST(Program, GoesOnAfterAFailedJobAndExitsWith3) {
  const ScratchFolder scratch;
  const std::string jobs =
      format_job(job_into(scratch / "a", "gpt-none.single.plain.fp64.host-threads")) + "\n" +
      format_job(job_into(scratch / "b", kMicro)) + "\n";
  const Ran ran = run_program("--threads 1 --jobs " + scratch.write("jobs", jobs).string());

  EXPECT_EQ(ran.exit, 3);
  std::vector<std::pair<std::size_t, JobEvent::State>> events;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<JobEvent> event = parse_event(line);
    ASSERT_TRUE(event) << line;
    events.emplace_back(event->job, event->state);
  }
  using State = JobEvent::State;
  EXPECT_THAT(events,
              testing::ElementsAre(std::pair(0u, State::begun), std::pair(0u, State::failed),
                                   std::pair(1u, State::begun), std::pair(1u, State::done)));
  EXPECT_TRUE(std::filesystem::exists(scratch / "b/rank_0000.h5"));
}

TEST(Program, ExitsWith0WhenAllIsDone) {
  const ScratchFolder scratch;
  const std::string jobs = format_job(job_into(scratch / "a", kMicro)) + "\n";
  EXPECT_EQ(run_program("--jobs " + scratch.write("jobs", jobs).string()).exit, 0);
}

TEST(Program, RestartsFromACandidatesStateWhenToldTo) {
  const ScratchFolder scratch;
  run_job(job_into(scratch / "clean", kMicro), 1);
  Job restarted = job_into(scratch / "rebased", kMicro);
  restarted.state = scratch / "clean/rank_0000.h5";
  const std::string jobs =
      format_job(restarted) + "\n" + format_job(job_into(scratch / "stateless", kMicro)) + "\n";

  const Ran ran = run_program("--threads 1 --rebase " + scratch.write("jobs", jobs).string());

  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.out, testing::HasSubstr("names no state"));
  EXPECT_FALSE(DumpReader(scratch / "rebased/rank_0000.h5").laws().empty());
}

TEST(Program, ExplainsItself) {
  const Ran ran = run_program("--help");
  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, testing::HasSubstr("--threads N"));
}

TEST(Program, AnswersAMisuseWithOneLineAndExit2) {
  for (const std::string arguments :
       {"", "--jobs", "--jobs /no/such/file", "--jobs x --threads 0", "--jobs x --threads 2x",
        "--jobs x --rebase x", "--what", "jobs"}) {
    const Ran ran = run_program(arguments);
    EXPECT_EQ(ran.exit, 2) << arguments;
    EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  }
}

}  // namespace
}  // namespace meshparity::reference
