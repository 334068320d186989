#include "parallel_impl/worker/cuda_jobs.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>

#include "fixtures/error.hpp"
#include "parallel_impl/train_on_cuda.hpp"
#include "parallel_impl/worker/event_log.hpp"

namespace meshparity {
namespace {

LoadedCase load_for_gpu(const Job& job) {
  LoadedCase loaded = load_case(job);
  if (loaded.spec.machine != Machine::cuda_threads) {
    throw UsageError(fmt::format("{}: this program runs cuda-threads", job.case_id));
  }
  return loaded;
}

/// Why the case failed; nothing when its files are complete.
std::optional<RankFailure> run_one(const LoadedCase& loaded, const RankBody& body,
                                   std::chrono::milliseconds time_limit) {
  CaseEvidence evidence = run_case(loaded, body, time_limit);
  if (evidence.failure) {
    return evidence.failure;
  }
  for (RankEvidence& rank : evidence.ranks) {
    rank.header.determinism = determinism_on_cuda(loaded.spec);
  }
  try {
    write_dump(loaded.job, evidence);
    return std::nullopt;
  } catch (const std::exception& error) {
    return RankFailure{-1, "", error.what()};
  }
}

}  // namespace

LaunchEnd run_cuda_jobs(const std::vector<Job>& jobs, const RankBody& body,
                        std::chrono::milliseconds time_limit, std::ostream& events) {
  EventLog log(events);
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    std::optional<LoadedCase> loaded;
    try {
      loaded.emplace(load_for_gpu(jobs[number]));
    } catch (const std::exception& error) {
      log.failed(number, {-1, "", error.what()});
      continue;
    }
    log.begun(number);
    const auto start = std::chrono::steady_clock::now();
    if (const std::optional<RankFailure> failure = run_one(*loaded, body, time_limit)) {
      log.failed(number, *failure);
      return LaunchEnd::spent;
    }
    log.done(number,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return log.any_failed() ? LaunchEnd::some_refused : LaunchEnd::all_done;
}

}  // namespace meshparity
