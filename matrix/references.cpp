#include "matrix/references.hpp"

#include <fmt/format.h>

#include <set>

#include "fixtures/error.hpp"
#include "matrix/bound.hpp"
#include "matrix/run_jobs.hpp"
#include "matrix/this_machine.hpp"

namespace meshparity {
namespace {

constexpr std::uintmax_t kCacheLimit = 4'000'000'000;

std::vector<ReferenceKey> keys_of(const RunRequest& request) {
  std::vector<ReferenceKey> keys;
  std::set<ReferenceKey> seen;
  for (const PlannedCase& planned : request.cases) {
    const ReferenceKey key = key_of(planned, request.level);
    if (!is_probe(planned.spec) && seen.insert(key).second) {
      keys.push_back(key);
    }
  }
  return keys;
}

Job job_for(const ReferenceKey& key, const RunRequest& request, const ReferenceCache& cache) {
  Job job;
  job.case_id = key.case_id;
  job.out = cache.begin(key);
  job.level = key.level;
  job.text = parse_case(key.case_id).text_hash.empty() ? std::filesystem::path() : request.text;
  job.models = request.models;
  job.companions = true;
  job.commit = request.commit;
  return job;
}

Reference adopt(const ReferenceCache& cache, const ReferenceKey& key,
                const LaunchOutcome& outcome) {
  if (!outcome.finished) {
    return {{}, outcome.what};
  }
  try {
    cache.adopt(key);
    return {cache.folder(key), ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string launches_folder(const RunDir& dir) {
  const std::filesystem::path folder = dir.launches() / "reference";
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

std::string reference_run(const CaseSpec& spec) {
  CaseSpec run = parse_case(reference_key(spec));
  const bool of_fp64 = lane_of(spec.precision).companions == lane_of(run.precision).companions;
  run.precision = of_fp64 ? run.precision : spec.precision;
  run.master64 = spec.master64;
  run.gradcomm_bf16 = spec.gradcomm_bf16;
  return format_case(run);
}

ReferenceKey key_of(const PlannedCase& planned, Level level) {
  return {reference_run(planned.spec), planned.model_file_hash, level};
}

std::map<ReferenceKey, Reference> prepare_references(const RunRequest& request, const RunDir& dir,
                                                     const RunHooks& hooks) {
  const auto begun = std::chrono::steady_clock::now();
  const bool cached = request.level != Level::all;
  const ReferenceCache cache(cached ? request.cache / "references" : dir.root() / "references",
                             request.programs.reference, cpu_model());
  std::map<ReferenceKey, Reference> references;
  std::vector<ReferenceKey> missing;
  std::vector<Job> jobs;
  for (const ReferenceKey& key : keys_of(request)) {
    references[key] = {cache.folder(key), ""};
    if (!cache.holds(key)) {
      missing.push_back(key);
      jobs.push_back(job_for(key, request, cache));
    }
  }
  hooks.references_begun(missing.size(), references.size());
  LaunchSettings settings{request.programs.reference, launches_folder(dir), 1, {}, {}};
  const auto ended = [&](std::size_t job, const LaunchOutcome& outcome, double) {
    references[missing[job]] = adopt(cache, missing[job], outcome);
  };
  run_jobs(jobs, settings, {[](std::size_t) {}, ended, hooks.note});
  std::set<std::filesystem::path> in_use;
  for (const auto& [key, reference] : references) {
    in_use.insert(reference.folder);
  }
  cache.trim(kCacheLimit, in_use);
  hooks.references_ended(
      {references.size(), missing.size(),
       std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()});
  for (const PlannedCase& planned : request.cases) {
    references.try_emplace(key_of(planned, request.level));  // a probe's: none is needed
  }
  return references;
}

}  // namespace meshparity
