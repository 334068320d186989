#include "matrix/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fixtures/case_rules.hpp"
#include "fixtures/error.hpp"
#include "matrix/relation_partners.hpp"

namespace meshparity {
namespace {

using Table = std::vector<RecordSpec>;

Partner the_same(const CaseSpec& spec) {
  return RelatedRun{spec, Level::all, true};
}

Partner at_level_standard(const CaseSpec& spec) {
  return RelatedRun{spec, Level::standard};
}

Partner on_machine(const CaseSpec& spec, Machine from, Machine to) {
  if (spec.machine != from) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.machine = to;
  return run;
}

Partner on_procs(const CaseSpec& spec) {
  return on_machine(spec, Machine::host_threads, Machine::host_procs);
}

Partner on_mpi(const CaseSpec& spec) {
  return on_machine(spec, Machine::host_threads, Machine::host_mpi);
}

Partner on_cuda_mpi(const CaseSpec& spec) {
  return on_machine(spec, Machine::cuda_threads, Machine::cuda_mpi);
}

Partner eager(const CaseSpec& spec) {
  if (spec.eager || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.eager = true;
  return run;
}

// The axes from the slowest to the fastest: no group keeps its ranks.
Partner reversed_order(const CaseSpec& spec) {
  if (mesh_words(spec.mesh).size() < 2 || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  std::reverse(run.spec.order.begin(), run.spec.order.end());
  return run;
}

Partner without_sequence_parallelism(const CaseSpec& spec) {
  if (!spec.sequence_parallel || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.sequence_parallel = false;
  return run;
}

Partner without_tensor_parallelism(const CaseSpec& spec) {
  const bool fixed_product = runs_on_host(spec.machine) || spec.fixed_gemm;
  if (spec.mesh.degree(Axis::tp) == 1 || !sums_are_ordered(spec) || !fixed_product) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.mesh.set_degree(Axis::tp, 1);
  run.spec.sequence_parallel = false;
  return run;
}

Partner without_recomputation(const CaseSpec& spec) {
  if (spec.recompute == Recompute::none) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.recompute = Recompute::none;
  return run;
}

Partner in_stage(const CaseSpec& spec, int from, int to) {
  if (spec.zero_stage != from || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.zero_stage = to;
  run.spec.zero_by_parameter = to > 0 && spec.zero_by_parameter;
  run.spec.overlap = to < 2 || spec.overlap;
  return run;
}

Partner zero1_to_zero0(const CaseSpec& spec) {
  return in_stage(spec, 1, 0);
}

// Of one micro-batch: several are added after the sum over replicas there, and before it here.
Partner zero2_to_zero0(const CaseSpec& spec) {
  return spec.micro_batches == 1 ? in_stage(spec, 2, 0) : std::nullopt;
}

Partner zero3_to_zero2(const CaseSpec& spec) {
  return in_stage(spec, 3, 2);
}

Partner sharded_flat(const CaseSpec& spec) {
  if (!spec.zero_by_parameter || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.zero_by_parameter = false;
  return run;
}

Partner in_one_bucket(const CaseSpec& spec) {
  if (spec.bucket_kibi_elements == 0 || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.bucket_kibi_elements = 0;
  return run;
}

Partner without_overlap(const CaseSpec& spec) {
  if (spec.zero_stage < 2 || !spec.overlap || !sums_are_ordered(spec)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.overlap = false;
  return run;
}

// What rounding does to a layout, beside what it does to one process of the same precision.
Partner one_rank(const CaseSpec& spec) {
  if (spec.precision == Precision::fp64 || spec.mesh.world_size() == 1) {
    return std::nullopt;
  }
  if (is_asynchronous(spec.schedule)) {
    return std::nullopt;
  }
  RelatedRun run{spec};
  run.spec.mesh = MeshShape();
  run.spec.schedule = Schedule::none;
  run.spec.virtual_chunks = 0;
  run.spec.split.clear();
  run.spec.sequence_parallel = false;
  run.spec.order = kDefaultOrder;
  return run;
}

bool every_record(const RecordSpec&, const Table&) {
  return true;
}

// Its shape is the number of stages.
bool all_but_versions(const RecordSpec& record, const Table&) {
  return record.phase != Phase::exact || record.name != "version";
}

// Rows are cut and gathered whole; only what each rank sums over its own rows comes out in another
// order: gradients of norms, of row biases, of learned positions.
bool outside_cut_rows(const RecordSpec& record, const Table&) {
  switch (record.phase) {
    case Phase::forward:
    case Phase::backward:
    case Phase::loss:
      return true;
    case Phase::grad:
      return record.shape.size() == 2 && record.name != "embed.position";
    default:
      return false;
  }
}

// The first sum over tensor ranks follows the first attention context.
bool before_first_tensor_sum(const RecordSpec& record, const Table& table) {
  const RecordSpec& context = find_record(table, Phase::forward, "layer0.attn.context");
  return record.phase == Phase::forward && record.order <= context.order;
}

// A key bias that softmax cannot see has a gradient of nothing but rounding, and so have its
// moments.
bool more_than_rounding(const RecordSpec& record, const Table& table) {
  return std::none_of(table.begin(), table.end(), [&](const RecordSpec& each) {
    return each.zero_expected && each.name == record.name;
  });
}

constexpr std::array<Relation, 22> kRelations = {{
    {"repeat", "the same case twice", the_same, every_record},
    {"level", "the level of the dump changes no result", at_level_standard, every_record},
    {"procs", "threads and processes", on_procs, every_record},
    {"mpi", "threads and MPI", on_mpi, every_record},
    {"cuda_mpi", "threads and MPI on one GPU", on_cuda_mpi, every_record},
    {"eager", "data move at the start or at the wait", eager, every_record},
    {"rank_order", "which rank has which coordinate", reversed_order, every_record},
    {"pp1", "a pipeline and none", without_pipeline, every_record},
    {"schedule", "any schedule and another one", on_another_schedule, every_record},
    {"split", "which stage has how many pieces", split_evenly, every_record},
    {"stages", "how many stages pass a batch on, one batch late", on_two_stages, all_but_versions},
    {"vsync", "versions of each stage and of all, before any is old", in_vertical_sync,
     every_record, true},
    {"recompute", "recomputation and none", without_recomputation, every_record},
    {"zero1", "the optimizer's state in shards and whole", zero1_to_zero0, every_record},
    {"zero2", "gradients in shards and whole, of one micro-batch", zero2_to_zero0, every_record},
    {"zero3", "parameters in shards and whole", zero3_to_zero2, every_record},
    {"flat", "shards by rows and by ranges", sharded_flat, every_record},
    {"bucket", "buckets of another size", in_one_bucket, every_record},
    {"overlap", "sums and gathers that are waited for later or at once", without_overlap,
     every_record},
    {"sp", "sequence parallelism and none", without_sequence_parallelism, outside_cut_rows, true},
    {"tp1", "tensor parallelism and none, up to the first sum", without_tensor_parallelism,
     before_first_tensor_sum, true},
    {"world1", "the distance to one process of the same precision", one_rank, more_than_rounding,
     false, true},
}};

}  // namespace

std::span<const Relation> relation_table() {
  return kRelations;
}

const Relation& find_relation(std::string_view name) {
  const auto found = std::find_if(kRelations.begin(), kRelations.end(),
                                  [&](const Relation& relation) { return relation.name == name; });
  if (found != kRelations.end()) {
    return *found;
  }
  std::string names;
  for (const Relation& relation : kRelations) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", relation.name);
  }
  throw UsageError(fmt::format("no relation is named {}; there are {}", name, names));
}

bool selects(const Relation& relation, const std::vector<RecordSpec>& table, const RecordKey& key) {
  if (relation.first_step_only && key.step != 0) {
    return false;
  }
  const auto record = std::find_if(table.begin(), table.end(), [&](const RecordSpec& each) {
    return each.phase == key.phase && each.name == key.record;
  });
  return record != table.end() && relation.selects(*record, table);
}

}  // namespace meshparity
