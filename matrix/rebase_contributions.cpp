#include "matrix/rebase_contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

/// A sum over the ranks of one axis, and under what name they keep their shares.
struct Sum {
  Axis axis;
  std::string role;   // "attn.out"
  std::string place;  // what follows "contribution/", without the micro-batch
};

std::optional<Sum> sum_of(const RecordSpec& record) {
  if (record.phase == Phase::grad) {
    return Sum{Axis::dp, "grad.dp", record.name};
  }
  const std::size_t dot = record.name.find('.');
  if (record.phase != Phase::forward || dot == std::string::npos) {
    return std::nullopt;
  }
  const std::string layer = record.name.substr(0, dot);
  const std::string output = record.name.substr(dot + 1);
  if (output == "attn.out") {
    return Sum{Axis::tp, "attn.out", layer};
  }
  return output == "mlp.out" ? std::optional(Sum{Axis::tp, "mlp.down", layer}) : std::nullopt;
}

std::string path_of(const Sum& sum, const Piece& piece) {
  const std::string path =
      fmt::format("step{}/{}/contribution/{}", piece.step, sum.role, sum.place);
  return sum.axis == Axis::tp ? fmt::format("{}/mb{}", path, piece.mb) : path;
}

/// Whether all ranks that hold the record's copies are those that are added.
bool is_along(const Sum& sum, const CaseSpec& spec, const RecordEvidence& record) {
  return std::all_of(record.shared_over.begin(), record.shared_over.end(),
                     [&](Axis axis) { return axis == sum.axis || spec.mesh.degree(axis) == 1; });
}

/// Without a value where a rank's share is not there or is not as large as its piece.
std::optional<std::vector<double>> share_of(const JudgeContext& context,
                                            const RecordEvidence& record, const Sum& sum,
                                            const Copy& copy) {
  std::vector<double> values(static_cast<std::size_t>(record.elements()));
  for (const PlacedPiece* placed : copy.pieces) {
    std::int64_t elements = 0;
    for (const Run& run : placed->runs) {
      elements += run.count;
    }
    try {
      const std::vector<double> held =
          context.candidate.readers().at(placed->rank).read_local(path_of(sum, *placed->piece));
      if (std::ssize(held) != elements) {
        return std::nullopt;
      }
      place_values<double>(placed->runs, held, values);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  return values;
}

}  // namespace

void write_contributions(const JudgeContext& context, const RecordEvidence& record,
                         DumpWriter& writer) {
  const RecordSpec& spec = record.row.record;
  const std::optional<Sum> sum = sum_of(spec);
  if (!sum || !is_along(*sum, context.evidence.spec, record)) {
    return;
  }
  std::vector<std::vector<double>> shares;
  for (const Copy& copy : record.copies) {
    auto share = share_of(context, record, *sum, copy);
    if (!share) {
      return;
    }
    shares.push_back(std::move(*share));
  }
  const std::array<std::int64_t, 1> shape = {record.elements()};
  for (std::size_t k = 0; k < shares.size(); ++k) {
    writer.write_local(fmt::format("contribution/{}/{}/step{}/{}", phase_name(spec.phase),
                                   spec.name, record.row.step, k),
                       shape, shares[k]);
  }
}

}  // namespace meshparity
