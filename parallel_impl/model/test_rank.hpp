// For tests: everything that one rank's layers need, without a training loop around them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/record_table.hpp"
#include "parallel_impl/backend/host_backend.hpp"
#include "parallel_impl/comm/rank_threads.hpp"
#include "parallel_impl/comm/thread_comm.hpp"
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

struct TestRank {
  /// Room for `samples` samples at a time.
  TestRank(const ModelSpec& model, const CaseSpec& spec, ThreadWorld& world, int rank, int samples)
      : mesh(spec, rank),
        comm(world, rank),
        backend(make_host_backend<double>()),
        recorder(record_table(model, spec), Level::final, "fp64"),
        faults(spec, rank),
        params(model, mesh, spec.seed, *backend),
        records(model, mesh, recorder, *backend),
        words(spec, model),
        extent(model, mesh, spec.sequence_parallel, samples),
        work(model, extent, params.largest(), *backend),
        parts{model,
              mesh,
              *backend,
              comm,
              mesh.group({Axis::tp}),
              kv_group(mesh.group({Axis::tp}), extent.kv_copies),
              records,
              words,
              faults,
              nullptr,
              extent,
              work} {}

  Mesh mesh;
  ThreadComm comm;
  std::unique_ptr<Backend<double>> backend;
  Recorder recorder;
  FaultPlan faults;
  Parameters<double> params;
  ActivationRecords<double> records;
  KeepWords words;
  LocalExtent extent;
  Workspace<double> work;
  RankParts<double> parts;
};

/// Runs `body(rank)` on all ranks of the case; every rank must end without an exception.
inline void on_ranks(const CaseSpec& spec, const std::function<void(ThreadWorld&, int)>& body) {
  std::vector<std::string> coordinates;
  for (int rank = 0; rank < spec.mesh.world_size(); ++rank) {
    coordinates.push_back(Mesh(spec, rank).describe());
  }
  ThreadWorld world(std::move(coordinates));
  for (const std::string& thrown : run_rank_threads(world, [&](int rank) { body(world, rank); })) {
    if (!thrown.empty()) {
      throw Error(thrown);
    }
  }
}

}  // namespace meshparity
