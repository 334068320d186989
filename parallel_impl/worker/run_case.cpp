#include "parallel_impl/worker/run_case.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "fixtures/board.hpp"
#include "parallel_impl/comm/faulty_comm.hpp"
#include "parallel_impl/comm/rank_threads.hpp"
#include "parallel_impl/comm/thread_comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/worker/build_facts.hpp"

namespace meshparity {
namespace {

RankEvidence empty_evidence(const LoadedCase& loaded, const std::vector<RecordSpec>& table,
                            const Mesh& mesh) {
  DumpHeader header;
  header.case_id = loaded.job.case_id;
  header.commit = loaded.job.commit;
  header.build = build_text();
  header.cpu = cpu_name();
  header.determinism = determinism_text();
  header.world = mesh.world();
  header.rank = mesh.rank();
  header.dense_coordinate = mesh.coordinate();
  header.expert_coordinate = mesh.expert_coordinate();
  header.level = loaded.job.level;
  return {std::move(header),
          Recorder(table, loaded.job.level, std::string(precision_name(loaded.spec.precision))),
          {}};
}

std::vector<EventRow> fired_faults(const FaultPlan& plan) {
  std::vector<EventRow> rows;
  for (const FaultPlan::Fired& fired : plan.fired()) {
    rows.push_back({"fault", fired.name, static_cast<double>(fired.times)});
  }
  return rows;
}

// With faults planted the program talks through faulty_comm; the ledger and the board tell what was
// really done.
void run_rank(const LoadedCase& loaded, const RankBody& body, ThreadComm& comm, BoardWriter& board,
              RankEvidence& evidence) {
  const Mesh mesh(loaded.spec, comm.rank());
  FaultPlan plan(loaded.spec, comm.rank());
  FaultyComm faulty(comm, plan);
  comm.attach_board(&board);
  Comm& chosen = plan.fired().empty() ? static_cast<Comm&>(comm) : faulty;
  const RankContext context{loaded.spec, loaded.model,      loaded.inputs, mesh,
                            chosen,      evidence.recorder, plan,          &board};
  board.set_state(comm.rank(), RankState::running);
  try {
    body(context);
  } catch (...) {
    board.set_state(comm.rank(), RankState::failed);
    throw;
  }
  evidence.ledgers.collectives = comm.ledger();
  evidence.ledgers.events = fired_faults(plan);
  board.set_state(comm.rank(), RankState::ended);
}

std::optional<RankFailure> failure_of(ThreadWorld& world) {
  if (const std::optional<RankFailure> failure = world.first_failure()) {
    return failure;
  }
  const std::size_t left = world.messages_left();
  if (left == 0) {
    return std::nullopt;
  }
  return RankFailure{-1, "", fmt::format("{} messages were sent and never received", left)};
}

}  // namespace

CaseEvidence run_case(const LoadedCase& loaded, const RankBody& body,
                      std::chrono::milliseconds time_limit) {
  const std::vector<RecordSpec> table = record_table(loaded.model, loaded.spec);
  CaseEvidence evidence;
  std::vector<std::string> coordinates;
  for (int rank = 0; rank < loaded.spec.mesh.world_size(); ++rank) {
    const Mesh mesh(loaded.spec, rank);
    coordinates.push_back(mesh.describe());
    evidence.ranks.push_back(empty_evidence(loaded, table, mesh));
  }
  BoardWriter board(loaded.job.out / "board.bin", static_cast<int>(coordinates.size()));
  ThreadWorld world(std::move(coordinates), time_limit);
  run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    run_rank(loaded, body, comm, board, evidence.ranks[static_cast<std::size_t>(rank)]);
  });
  evidence.failure = failure_of(world);
  return evidence;
}

void write_dump(const Job& job, const CaseEvidence& evidence) {
  for (const RankEvidence& rank : evidence.ranks) {
    DumpWriter writer(job.out / rank_file_name(rank.header.rank), rank.header);
    rank.recorder.write(writer);
    writer.write_ledgers(rank.ledgers);
    writer.complete();
  }
}

}  // namespace meshparity
