// For tests of pipelines: cases by their numbers, and lists of actions as text.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "matrix/expect/schedule.hpp"

namespace meshparity::expect {

/// p stages, m micro-batches, one step.
inline CaseSpec pipeline_case(int p, Schedule schedule, int m, int v = 0) {
  CaseSpec spec;
  spec.mesh = MeshShape({1, 1, p, 1, 1, 1});
  spec.schedule = p == 1 ? Schedule::none : schedule;
  spec.micro_batches = m;
  spec.virtual_chunks = v;
  spec.steps = 1;
  return spec;
}

/// "F0 B0 reduce step": kinds and micro-batches; of several chunks a stage "F0.2", chunk 2.
inline std::string list_text(const ActionList& list, bool chunks = false) {
  std::string text;
  for (const Action& action : list) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", action_word(action.kind));
    text += action.mb < 0 ? "" : fmt::format("{}", action.mb);
    text += action.mb < 0 || !chunks ? "" : fmt::format(".{}", action.chunk);
  }
  return text;
}

}  // namespace meshparity::expect
