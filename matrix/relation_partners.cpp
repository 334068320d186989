#include "matrix/relation_partners.hpp"

#include "fixtures/case_rules.hpp"

namespace meshparity {

bool runs_on_host(Machine machine) {
  return machine == Machine::host_threads || machine == Machine::host_procs ||
         machine == Machine::host_mpi;
}

bool sums_are_ordered(const CaseSpec& spec) {
  return runs_on_host(spec.machine) || spec.machine == Machine::cuda_threads ||
         spec.machine == Machine::cuda_mpi || spec.ordered;
}

Partner without_pipeline(const CaseSpec& spec) {
  if (spec.mesh.degree(Axis::pp) == 1 || is_asynchronous(spec.schedule) ||
      !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.mesh.set_degree(Axis::pp, 1);
  run.spec.schedule = Schedule::none;
  run.spec.virtual_chunks = 0;
  run.spec.split.clear();
  if (mesh_words(run.spec.mesh).size() < 2) {
    run.spec.order = kDefaultOrder;
  }
  return run;
}

Partner on_another_schedule(const CaseSpec& spec) {
  if (spec.mesh.degree(Axis::pp) == 1 || is_asynchronous(spec.schedule) ||
      !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  const bool is_1f1b = spec.schedule == Schedule::one_f_one_b;
  run.spec.schedule = is_1f1b ? Schedule::gpipe : Schedule::one_f_one_b;
  run.spec.virtual_chunks = 0;
  return run;
}

Partner split_evenly(const CaseSpec& spec) {
  if (spec.split.empty() || spec.schedule == Schedule::pipedream) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.split.clear();
  return run;
}

Partner on_two_stages(const CaseSpec& spec) {
  const bool fits = spec.split.empty() && spec.mesh.degree(Axis::pp) > 2;
  if (spec.schedule != Schedule::pipedream_2bw || !fits || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.mesh.set_degree(Axis::pp, 2);
  return run;
}

Partner in_vertical_sync(const CaseSpec& spec) {
  if (spec.schedule != Schedule::pipedream) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.schedule = Schedule::pipedream_vsync;
  return run;
}

}  // namespace meshparity
