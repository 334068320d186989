// Training as one rank does it: all steps of a case, from initial parameters to the last update.
#pragma once
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/board.hpp"
#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/raw_inputs.hpp"
#include "parallel_impl/backend/backend_source.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// All that one rank is given. Everything referenced outlives the call; raw inputs and model are
/// shared by ranks and only read.
struct RankContext {
  const CaseSpec& spec;
  const ModelSpec& model;
  const RawInputs& inputs;
  const Mesh& mesh;
  Comm& comm;
  Recorder& recorder;
  FaultPlan& faults;
  BoardWriter* board = nullptr;  // beat() once a layer; null in unit tests
  /// Filled by train() when all steps are taken; null: nobody asks.
  std::vector<MemoryRow>* memory = nullptr;
  std::vector<ActionRow>* actions = nullptr;
  BackendSource backends = {};
};

/// Runs all steps of the case in its precision and records every record of the level; of a probe,
/// those of its indices (probe.hpp).
/// Throws what its parts throw; the caller poisons comm.
void train(const RankContext& context);

}  // namespace meshparity
