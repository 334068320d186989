#include "parallel_impl/worker/mpi_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <thread>

#include "fixtures/error.hpp"
#include "parallel_impl/worker/event_log.hpp"

namespace meshparity {
namespace {

using Clock = std::chrono::steady_clock;

/// One process of the launch; process 0 speaks for all.
class MpiJobs {
 public:
  explicit MpiJobs(const MpiLaunch& launch) : launch_(launch), log_(launch.events) {}

  void run(std::size_t number, const Job& job);
  bool any_failed() const { return any_failed_; }

 private:
  std::optional<LoadedCase> load(std::size_t number, const Job& job);
  void compute(std::size_t number, const LoadedCase& loaded);
  void compute_rank(const LoadedCase& loaded, MpiWorld& world, MpiComm& comm, BoardWriter& board,
                    RankEvidence& evidence);
  void fail(std::size_t number, const RankFailure& failure);
  [[noreturn]] void end_launch(std::size_t number, const RankFailure& failure);
  bool speaks() const { return launch_.session.rank() == 0; }

  const MpiLaunch& launch_;
  EventLog log_;
  bool any_failed_ = false;
};

LoadedCase load_for(const Job& job, const std::vector<Machine>& machines, int processes) {
  LoadedCase loaded = load_case(job);
  if (std::find(machines.begin(), machines.end(), loaded.spec.machine) == machines.end()) {
    std::string names;
    for (const Machine machine : machines) {
      names += fmt::format("{}{}", names.empty() ? "" : " and ", machine_name(machine));
    }
    throw UsageError(fmt::format("{}: this program runs {}", job.case_id, names));
  }
  if (loaded.spec.mesh.world_size() != processes) {
    throw UsageError(fmt::format("{}: {} ranks, but mpirun was given -np {}", job.case_id,
                                 loaded.spec.mesh.world_size(), processes));
  }
  return loaded;
}

// A case begins on all processes or on none.
std::optional<LoadedCase> MpiJobs::load(std::size_t number, const Job& job) {
  std::optional<LoadedCase> loaded;
  std::string why;
  try {
    loaded = load_for(job, launch_.machines, launch_.session.size());
  } catch (const std::exception& error) {
    why = error.what();
  }
  const auto refused = launch_.session.sum(loaded ? 0 : 1);
  if (refused > 0) {
    fail(number, {-1, "", why.empty() ? "another process cannot begin this case" : why});
    return std::nullopt;
  }
  return loaded;
}

void MpiJobs::run(std::size_t number, const Job& job) {
  if (const std::optional<LoadedCase> loaded = load(number, job)) {
    compute(number, *loaded);
  }
}

void MpiJobs::compute(std::size_t number, const LoadedCase& loaded) {
  const Clock::time_point start = Clock::now();
  const std::filesystem::path file = loaded.job.out / "board.bin";
  if (!speaks()) {
    launch_.session.sum(0);  // process 0 makes the board, the others write to it
  }
  BoardWriter board =
      speaks() ? BoardWriter(file, loaded.spec.mesh.world_size()) : BoardWriter::of_another(file);
  if (speaks()) {
    launch_.session.sum(0);
    log_.begun(number);
  }
  MpiWorld world(rank_coordinates(loaded), launch_.time_limit);
  MpiComm comm(world, completion_of(loaded));
  try {
    RankEvidence evidence = empty_evidence(loaded, world.rank());
    compute_rank(loaded, world, comm, board, evidence);
    world.end();
    const std::int64_t left = world.await_all(comm.messages_balance());
    if (left != 0) {
      end_launch(number, messages_left_over(static_cast<std::uint64_t>(left)));
    }
    write_rank(loaded.job, evidence);
    world.await_all(0);
  } catch (const std::exception& error) {
    world.poison(error.what());
    end_launch(number, world.state().first_failure().value());
  }
  if (speaks()) {
    log_.done(number, std::chrono::duration<double>(Clock::now() - start).count());
  }
}

void MpiJobs::compute_rank(const LoadedCase& loaded, MpiWorld& world, MpiComm& comm,
                           BoardWriter& board, RankEvidence& evidence) {
  const OverMpi over = launch_.over ? launch_.over(comm, world, loaded.spec) : OverMpi();
  if (!over.determinism.empty()) {
    evidence.header.determinism = over.determinism;
  }
  run_rank(loaded, launch_.body, over.comm == nullptr ? comm : *over.comm, board, evidence);
}

void MpiJobs::fail(std::size_t number, const RankFailure& failure) {
  any_failed_ = true;
  if (speaks()) {
    log_.failed(number, failure);
  }
}

// The others leave it to process 0 to speak and to end them. It may be waiting for a while, but not
// for longer than the limit.
void MpiJobs::end_launch(std::size_t number, const RankFailure& failure) {
  fail(number, failure);
  if (!speaks()) {
    std::this_thread::sleep_for(4 * launch_.time_limit);
  }
  launch_.session.abort(kLaunchSpent);
}

}  // namespace

bool run_mpi_jobs(const std::vector<Job>& jobs, const MpiLaunch& launch) {
  MpiJobs each(launch);
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    each.run(number, jobs[number]);
  }
  return !each.any_failed();
}

}  // namespace meshparity
