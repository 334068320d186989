// Stands in for the worker and for the reference in tests of the driver: speaks the job protocol,
// writes dumps without pieces, and misbehaves as the seed in the case id tells it.
// With a state to restart from it is the reference.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "fixtures/board.hpp"
#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/job.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/record_table.hpp"

namespace meshparity {
namespace {

// Seeds of the candidate; the reference behaves for all but the last two.
constexpr std::uint64_t kDiesBySignal = 11;
constexpr std::uint64_t kStandsStill = 12;
constexpr std::uint64_t kFails = 13;
constexpr std::uint64_t kExits = 14;
constexpr std::uint64_t kStandsBeforeBegin = 15;
constexpr std::uint64_t kExitsAfterDone = 16;
constexpr std::uint64_t kMovesForTwoSeconds = 17;
constexpr std::uint64_t kWrittenLate = 18;
constexpr std::uint64_t kSaysDoneTwice = 19;
constexpr std::uint64_t kReferenceFails = 20;
constexpr std::uint64_t kRebasingFails = 21;
constexpr std::uint64_t kFailsAtStandard = 22;  // a second run, at level all, ends
constexpr std::uint64_t kCorruptsMemory = 23;   // for a build that notices

void tell(const JobEvent& event) {
  std::puts(format_event(event).c_str());
  std::fflush(stdout);
}

std::vector<RecordRow> rows_of(const Job& job) {
  const CaseSpec spec = parse_case(job.case_id);
  const ModelSpec model = load_named_model(job.models, spec.model);
  std::vector<RecordRow> rows;
  for (int step = 0; step < spec.steps; ++step) {
    for (const RecordSpec& record : record_table(model, spec)) {
      rows.push_back({record, step});
    }
  }
  return rows;
}

void write_dump(const Job& job, int world) {
  for (int rank = 0; rank < world; ++rank) {
    DumpHeader header;
    header.case_id = job.case_id;
    header.world = world;
    header.rank = rank;
    header.level = job.level;
    DumpWriter writer(job.out / rank_file_name(rank), header);
    if (job.companions) {
      writer.write_records(rows_of(job));
    }
    writer.complete();
  }
  if (job.companions) {
    write_companions(job.out / "companions_fp32.h5", "fp32", {});
  }
}

[[noreturn]] void stand_still() {
  while (true) {
    pause();
  }
}

/// One element behind an array of four.
void corrupt_memory() {
  const std::vector<int> values(4, 1);
  const volatile std::size_t behind = values.size();
  const_cast<int*>(values.data())[behind] = 2;
}

void misbehave(std::uint64_t seed, BoardWriter& board) {
  if (seed == kDiesBySignal) {
    std::fputs("about to fall\n", stderr);
    raise(SIGSEGV);
  } else if (seed == kExits) {
    std::exit(3);
  } else if (seed == kCorruptsMemory) {
    corrupt_memory();
  } else if (seed == kStandsStill) {
    board.enter(0, "layer0.mlp.down/forward", "tp: 0 1");
    stand_still();
  } else if (seed == kMovesForTwoSeconds) {
    for (int i = 0; i < 40; ++i) {
      board.beat(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

JobEvent failure(std::size_t number, const std::string& what) {
  JobEvent event;
  event.job = number;
  event.state = JobEvent::State::failed;
  event.what = what;
  return event;
}

JobEvent done(const Job& job, std::size_t number, int world) {
  write_dump(job, world);
  JobEvent event;
  event.job = number;
  event.state = JobEvent::State::done;
  event.seconds = 0.25;
  return event;
}

JobEvent end_as_reference(const Job& job, std::size_t number, std::uint64_t seed) {
  if (job.companions && seed == kReferenceFails) {
    return failure(number, "the reference gave up");
  }
  if (!job.state.empty() && seed == kRebasingFails) {
    return failure(number, "the state could not be read");
  }
  return done(job, number, 1);
}

JobEvent end_as_worker(const Job& job, std::size_t number, const CaseSpec& spec) {
  const int world = spec.mesh.world_size();
  BoardWriter board(job.out / "board.bin", world);
  misbehave(spec.seed, board);
  const bool fails =
      spec.seed == kFails || (spec.seed == kFailsAtStandard && job.level == Level::standard);
  if (!fails) {
    return done(job, number, world);
  }
  JobEvent event = failure(number, "rank 1 gave up");
  event.rank = 1;
  event.coordinate = "dp1";
  return event;
}

/// Returns what is still to be told, once the next job has begun.
std::optional<JobEvent> run_job(const Job& job, std::size_t number,
                                const std::optional<JobEvent>& late) {
  const CaseSpec spec = parse_case(job.case_id);
  if (spec.seed == kStandsBeforeBegin) {
    stand_still();
  }
  JobEvent begun;
  begun.job = number;
  tell(begun);
  std::puts("a library says hello");
  if (late && spec.seed != kDiesBySignal) {
    tell(*late);
  }
  if (job.companions || !job.state.empty()) {
    tell(end_as_reference(job, number, spec.seed));
    return std::nullopt;
  }
  const JobEvent end = end_as_worker(job, number, spec);
  if (spec.seed == kWrittenLate) {
    return end;
  }
  tell(end);
  if (spec.seed == kSaysDoneTwice) {
    tell(end);
  } else if (spec.seed == kExitsAfterDone) {
    std::exit(5);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace meshparity

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  const std::vector<meshparity::Job> jobs = meshparity::read_jobs(argv[2]);
  // As the real programs: only the reference restarts, and only when told to.
  const bool restarts = std::string_view(argv[1]) == "--rebase";
  for (const meshparity::Job& job : jobs) {
    if (restarts == job.state.empty()) {
      return 2;
    }
  }
  std::optional<meshparity::JobEvent> late;
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    late = meshparity::run_job(jobs[number], number, late);
  }
  if (late) {
    meshparity::tell(*late);
  }
  return 0;
}
