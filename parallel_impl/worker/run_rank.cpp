#include "parallel_impl/worker/run_rank.hpp"

#include <fmt/format.h>

#include <utility>

#include "parallel_impl/comm/faulty_comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/worker/build_facts.hpp"

namespace meshparity {
namespace {

std::vector<EventRow> fired_faults(const FaultPlan& plan) {
  std::vector<EventRow> rows;
  for (const FaultPlan::Fired& fired : plan.fired()) {
    rows.push_back({"fault", fired.name, static_cast<double>(fired.times)});
  }
  return rows;
}

}  // namespace

std::vector<std::string> rank_coordinates(const LoadedCase& loaded) {
  std::vector<std::string> coordinates;
  for (int rank = 0; rank < loaded.spec.mesh.world_size(); ++rank) {
    coordinates.push_back(Mesh(loaded.spec, rank).describe());
  }
  return coordinates;
}

Completion completion_of(const LoadedCase& loaded) {
  return loaded.spec.eager ? Completion::eager : Completion::lazy;
}

RankEvidence empty_evidence(const LoadedCase& loaded, int rank) {
  const Mesh mesh(loaded.spec, rank);
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
          Recorder(record_table(loaded.model, loaded.spec), loaded.job.level,
                   std::string(precision_name(loaded.spec.precision))),
          {}};
}

// With faults planted the program talks through faulty_comm; the ledger and the board tell what was
// really done.
void run_rank(const LoadedCase& loaded, const RankBody& body, Comm& comm, BoardWriter& board,
              RankEvidence& evidence) {
  const Mesh mesh(loaded.spec, comm.rank());
  FaultPlan plan(loaded.spec, comm.rank());
  FaultyComm faulty(comm, plan);
  comm.attach_board(&board);
  Comm& chosen = plan.fired().empty() ? comm : faulty;
  const RankContext context{loaded.spec,
                            loaded.model,
                            loaded.inputs,
                            mesh,
                            chosen,
                            evidence.recorder,
                            plan,
                            &board,
                            &evidence.ledgers.memory,
                            &evidence.ledgers.actions};
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

RankFailure messages_left_over(std::uint64_t count) {
  return {-1, "", fmt::format("{} messages were sent and never received", count)};
}

void write_rank(const Job& job, const RankEvidence& evidence) {
  DumpWriter writer(job.out / rank_file_name(evidence.header.rank), evidence.header);
  evidence.recorder.write(writer);
  writer.write_ledgers(evidence.ledgers);
  writer.complete();
}

}  // namespace meshparity
