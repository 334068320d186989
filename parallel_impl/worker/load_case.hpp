// From a job to all that its ranks are given: the case, its model, its raw inputs.
#pragma once
#include "fixtures/case_spec.hpp"
#include "fixtures/job.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/raw_inputs.hpp"

namespace meshparity {

struct LoadedCase {
  Job job;
  CaseSpec spec;
  ModelSpec model;
  RawInputs inputs;
};

/// Throws UsageError: an id that does not parse or asks for what is not built, a layout that the
/// model does not allow, a model or text that is missing or has another hash, an unknown fault.
LoadedCase load_case(const Job& job);

}  // namespace meshparity
