#include "matrix/checks/owners.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/shards.hpp"

namespace meshparity {
namespace {

bool has_formula(const JudgeContext& context) {
  const auto& readers = context.candidate.readers();
  const bool foreign = !readers.empty() && readers.begin()->second.header().foreign;
  return !foreign && !context.evidence.model.name.empty() &&
         !expect::why_no_calls(context.evidence.spec);
}

bool is_of_parameters(Phase phase) {
  return phase == Phase::grad || phase == Phase::param || phase == Phase::master ||
         phase == Phase::moment1 || phase == Phase::moment2;
}

Placement parameter_part(const expect::Layout& layout, const RecordSpec& record, int rank) {
  const std::vector<ParamSpec> params = param_table(layout.model);
  const auto param = std::find_if(params.begin(), params.end(),
                                  [&](const ParamSpec& each) { return each.name == record.name; });
  return param == params.end() ? whole(record.shape)
                               : expect::part_of(*param, record.phase, layout, rank);
}

/// Elements in the piece's order, however they are cut into runs.
std::vector<Run> joined(const std::vector<Run>& runs) {
  std::vector<Run> all;
  for (const Run& run : runs) {
    if (run.count > 0 && !all.empty() && all.back().begin + all.back().count == run.begin) {
      all.back().count += run.count;
    } else if (run.count > 0) {
      all.push_back(run);
    }
  }
  return all;
}

std::string part_text(const std::vector<Run>& runs, const RecordEvidence& record) {
  if (runs.empty()) {
    return "no element";
  }
  std::int64_t count = 0;
  for (const Run& run : runs) {
    count += run.count;
  }
  return fmt::format("{} elements from {}", count,
                     index_text(index_of(runs.front().begin, record.row.record.shape)));
}

}  // namespace

bool must_hold(const JudgeContext& context, const RecordSpec& record, int rank) {
  const CaseSpec& spec = context.evidence.spec;
  if (!has_formula(context)) {
    return spec.mesh.degree(Axis::pp) == 1;
  }
  const expect::Layout layout{spec, context.evidence.model};
  if (!expect::holds(record, layout, rank)) {
    return false;
  }
  const bool may_be_empty =
      is_of_parameters(record.phase) && expect::is_sharded(record.phase, spec);
  return !may_be_empty || element_count(parameter_part(layout, record, rank)) > 0;
}

std::optional<Placement> due_placement(const JudgeContext& context, const RecordSpec& record,
                                       int rank, int mb) {
  if (!has_formula(context)) {
    return std::nullopt;
  }
  const expect::Layout layout{context.evidence.spec, context.evidence.model};
  if (!expect::holds(record, layout, rank)) {
    return BoxPlacement{};
  }
  if (is_of_parameters(record.phase)) {
    return parameter_part(layout, record, rank);
  }
  return expect::is_of_samples(record) ? expect::part_of(record, layout, rank, mb)
                                       : expect::part_of_step(record, layout, rank);
}

bool check_owners(const JudgeContext& context, const RecordEvidence& record, CheckResult& result) {
  const CaseSpec& spec = context.evidence.spec;
  const RecordSpec& held = record.row.record;
  for (const PlacedPiece& placed : record.placed) {
    const auto place = due_placement(context, held, placed.rank, placed.piece->mb);
    if (!place) {
      return true;
    }
    const std::vector<Run> due = joined(placement_runs(*place, held.shape));
    const std::vector<Run> done = joined(placed.runs);
    if (due != done) {
      Finding finding = finding_about(record, "coverage");
      finding.rank = placed.rank;
      finding.coordinate = expect::place_text(spec, placed.rank);
      finding.mb = placed.piece->mb;
      finding.text = fmt::format("{} holds {}, where {} are its own", rank_text(spec, placed.rank),
                                 part_text(done, record), part_text(due, record));
      result.findings.push_back(std::move(finding));
      return false;
    }
  }
  return true;
}

}  // namespace meshparity
