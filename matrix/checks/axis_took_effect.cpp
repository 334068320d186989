#include "matrix/checks/axis_took_effect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "matrix/expect/grid.hpp"
#include "matrix/expect/groups.hpp"

namespace meshparity {
namespace {

constexpr std::array<std::string_view, 5> kShardedByTp = {
    "attn.q.weight", "attn.out.weight", "mlp.up.weight", "mlp.down.weight", "embed.weight"};

/// Ascending.
std::vector<int> members_of(const std::string& group) {
  std::vector<int> ranks = expect::ranks_in(group);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool names_axis(const std::string& axes, Axis axis) {
  const std::string padded = fmt::format(",{},", axes);
  return padded.find(fmt::format(",{},", axis_name(axis))) != std::string::npos;
}

/// Bytes that a rank moved in groups along this axis; a group of other ranks than the axis's does
/// not count.
std::int64_t bytes_along(const CaseSpec& spec, int rank, Axis axis,
                         const std::vector<CollectiveRow>& rows) {
  std::int64_t bytes = 0;
  for (const CollectiveRow& row : rows) {
    if (names_axis(row.axis, axis) &&
        members_of(row.group) == expect::peers(spec, rank, expect::axes_named(row.axis))) {
      bytes += row.bytes;
    }
  }
  return bytes;
}

void add_finding(const CaseSpec& spec, int rank, std::string text, CheckResult& result) {
  Finding finding;
  finding.gravity = Verdict::inconclusive;
  finding.check = "axis_took_effect";
  finding.rank = rank;
  finding.coordinate = expect::place_text(spec, rank);
  finding.text = std::move(text);
  result.findings.push_back(std::move(finding));
}

void check_bytes(const JudgeContext& context, Axis axis, CheckResult& result) {
  const CaseSpec& spec = context.evidence.spec;
  for (const auto& [rank, reader] : context.candidate.readers()) {
    const std::int64_t bytes = bytes_along(spec, rank, axis, reader.ledgers().collectives);
    ++result.compared;
    if (!(bytes > 0)) {
      add_finding(spec, rank,
                  fmt::format("{} {} but {} moved no byte in its {} group", axis_name(axis),
                              spec.mesh.degree(axis), rank_text(spec, rank), axis_name(axis)),
                  result);
      return;
    }
  }
}

bool is_sharded_weight(const RecordRow& row) {
  const std::string& name = row.record.name;
  return row.step == 0 && row.record.phase == Phase::param &&
         std::any_of(kShardedByTp.begin(), kShardedByTp.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

void check_weight(const JudgeContext& context, const RecordRow& row, CheckResult& result) {
  const CaseSpec& spec = context.evidence.spec;
  const std::int64_t whole_record = elements_of(row.record.shape);
  std::map<int, std::int64_t> held;
  for (const auto& [rank, piece] :
       context.candidate.pieces({row.step, row.record.phase, row.record.name})) {
    held[rank] += element_count(piece->placement);
  }
  for (const auto& [rank, elements] : held) {
    ++result.compared;
    if (!(elements < whole_record)) {
      add_finding(
          spec, rank,
          fmt::format("tp {} but {} holds all {} elements of {}", spec.mesh.degree(Axis::tp),
                      rank_text(spec, rank), whole_record, row.record.name),
          result);
      return;
    }
  }
}

/// Activations between the tensor-parallel regions, which sequence parallelism cuts by rows.
bool is_stream(const RecordRow& row) {
  const std::string& name = row.record.name;
  return row.step == 0 && row.record.phase == Phase::forward &&
         (name.ends_with(".in") || name.ends_with(".attn.out"));
}

/// A replica's rows are its share of the record over dp; a rank holds a part of them.
void check_rows(const JudgeContext& context, const RecordRow& row, CheckResult& result) {
  const CaseSpec& spec = context.evidence.spec;
  const std::int64_t of_a_replica =
      elements_of(row.record.shape) / spec.mesh.degree(Axis::dp) / spec.mesh.degree(Axis::cp);
  std::map<int, std::int64_t> held;
  for (const auto& [rank, piece] :
       context.candidate.pieces({row.step, row.record.phase, row.record.name})) {
    held[rank] += element_count(piece->placement);
  }
  for (const auto& [rank, elements] : held) {
    ++result.compared;
    if (!(elements < of_a_replica)) {
      add_finding(spec, rank,
                  fmt::format("sp but {} holds all {} elements of its replica's {}",
                              rank_text(spec, rank), of_a_replica, row.record.name),
                  result);
      return;
    }
  }
}

}  // namespace

void check_axes(const JudgeContext& context, const std::vector<RecordRow>& rows,
                CheckResult& result) {
  const MeshShape& mesh = context.evidence.spec.mesh;
  for (const Axis axis : kAxes) {
    if (mesh.degree(axis) > 1) {
      check_bytes(context, axis, result);
    }
  }
  for (const RecordRow& row : rows) {
    if (mesh.degree(Axis::tp) > 1 && is_sharded_weight(row)) {
      check_weight(context, row, result);
    }
    if (context.evidence.spec.sequence_parallel && is_stream(row)) {
      check_rows(context, row, result);
    }
  }
}

}  // namespace meshparity
