// Weights of an asynchronous pipeline: which version of each stage's a step reads, by the closed
// form of algorithms.md §3.5, and the versions that later steps may read. Version k of a stage is
// what k updates made of it. Every other schedule reads the newest.
#pragma once
#include <map>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/param_table.hpp"
#include "reference/state.hpp"

namespace meshparity::reference {

/// Stages of a case, 1 without a pipeline.
int stage_count(const CaseSpec& spec);
/// Of each parameter. A model of L blocks has L + 2 pieces: embedding, blocks, head with the final
/// norm. Stages hold consecutive ones: as split says, or evenly, the first stages one more.
std::vector<int> stages_of(const std::vector<ParamSpec>& table, int layers, const CaseSpec& spec);

/// pipedream     max(0, j - (p - 1 - s)): what was the newest when micro-batch j went forward
/// ..._vsync     max(0, j - (p - 1)): the same for all stages
/// ..._2bw       max(0, j - 1): the batch before is still on its way
int version_used(const CaseSpec& spec, int stage, int step);

/// A state, and the parameters that later steps may still read.
struct Versions {
  State newest;                             // after so many updates as steps have been run
  std::map<int, std::vector<Matrix>> past;  // by version
};

/// Keeps the newest as version `step` if a later step reads it, and lets go of what none does; to
/// be called in that step, before its update.
void keep_version(const CaseSpec& spec, int step, Versions& versions);
/// The newest state with the parameters that the step reads; `stages` as stages_of has them. Throws
/// Error when a version is not held.
State state_read(const CaseSpec& spec, const std::vector<int>& stages, int step,
                 const Versions& versions);

}  // namespace meshparity::reference
