#include "matrix/equal_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fixtures/case_spec.hpp"
#include "fixtures/element_type.hpp"
#include "fixtures/error.hpp"
#include "matrix/assemble.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

constexpr std::int64_t kStreamedElements = 1 << 17;  // 1 MiB: below it a piece is read whole

/// Integers are compared as such; unlike ones are shown as the doubles next to them.
Equality compare_integers(const std::vector<std::int64_t>& left,
                          const std::vector<std::int64_t>& right) {
  Equality found;
  found.compared = std::ssize(left);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] != right[i]) {
      const auto a = static_cast<double>(left[i]);
      const auto b = static_cast<double>(right[i]);
      found.add({0, 1, 0, static_cast<std::int64_t>(i), a, b, std::abs(a - b)});
    }
  }
  return found;
}

const DumpReader& reader_of(const DumpSet& dump, int rank) {
  return dump.readers().at(rank);
}

/// Where a large piece lies in its file, when it can be streamed.
std::int64_t streamed_offset(const DumpReader& reader, const Piece& piece) {
  return element_count(piece.placement) < kStreamedElements ? -1 : reader.file_offset(piece);
}

Equality compare_piece(const RecordPair& pair, const HeldPiece& left, const HeldPiece& right) {
  const DumpReader& left_reader = reader_of(pair.left, left.rank);
  const DumpReader& right_reader = reader_of(pair.right, right.rank);
  if (is_integer(left.piece->type)) {
    return compare_integers(left_reader.read_integers(*left.piece),
                            right_reader.read_integers(*right.piece));
  }
  const std::int64_t left_offset = streamed_offset(left_reader, *left.piece);
  const std::int64_t right_offset = streamed_offset(right_reader, *right.piece);
  if (left_offset >= 0 && right_offset >= 0) {
    return compare_ranges({pair.left.file_of(left.rank), left_offset},
                          {pair.right.file_of(right.rank), right_offset},
                          element_count(left.piece->placement));
  }
  return compare_elements(left_reader.read(*left.piece), right_reader.read(*right.piece), 0);
}

bool same_pieces(const std::vector<HeldPiece>& left, const std::vector<HeldPiece>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const HeldPiece& a, const HeldPiece& b) {
                      return a.rank == b.rank && a.piece->path == b.piece->path &&
                             a.piece->type == b.piece->type &&
                             a.piece->placement == b.piece->placement;
                    });
}

/// The record's shape as far as pieces tell: the largest index along each dim.
Shape shape_of(const std::vector<HeldPiece>& pieces) {
  Shape shape;
  const auto grow = [&](const Box& box) {
    shape.resize(std::max(shape.size(), box.start.size()), 1);
    for (std::size_t d = 0; d < box.start.size(); ++d) {
      shape[d] = std::max(shape[d], box.start[d] + box.extent[d]);
    }
  };
  for (const HeldPiece& held : pieces) {
    if (const auto* boxes = std::get_if<BoxPlacement>(&held.piece->placement)) {
      std::for_each(boxes->boxes.begin(), boxes->boxes.end(), grow);
    } else if (const auto* flat = std::get_if<FlatPlacement>(&held.piece->placement)) {
      grow(flat->box);
    } else if (const auto* rows = std::get_if<RowsPlacement>(&held.piece->placement)) {
      grow(rows->box);
      for (const std::int64_t row : rows->rows) {
        auto& size = shape[static_cast<std::size_t>(rows->dim)];
        size = std::max(size, row + 1);
      }
    }
  }
  return shape;
}

RecordDifference compare_pieces(const RecordPair& pair, const std::vector<HeldPiece>& left) {
  const std::vector<HeldPiece>& right = pair.right.pieces(pair.key);
  RecordDifference found;
  for (std::size_t p = 0; p < left.size(); ++p) {
    const Equality equality = compare_piece(pair, left[p], right[p]);
    if (equality.different > 0 && found.equality.different == 0) {
      const Shape shape = shape_of(left);
      const auto runs = placement_runs(left[p].piece->placement, shape);
      found.where = right[p];
      found.place = equality.first;
      found.index = index_of(element_of_runs(runs, equality.first), shape);
    }
    const bool first_piece = found.equality.different == 0;
    Equality rest = equality;
    rest.first = first_piece ? equality.first : -1;
    found.equality.add(rest);
  }
  return found;
}

/// One copy of a record put together from a layout's pieces.
struct WholeCopy {
  std::vector<PlacedPiece> placed;
  Copy copy;
  std::vector<double> values;
};

CaseSpec spec_of(const DumpSet& dump) {
  const std::string& id = dump.header().case_id;
  try {
    return parse_case(id);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format(
        "the dumps have unlike layouts, and case id {} does not say which pieces are copies ({})",
        id, error.what()));
  }
}

WholeCopy whole_copy(const DumpSet& dump, const RecordKey& key, const Shape& shape) {
  const CaseSpec spec = spec_of(dump);
  WholeCopy whole;
  whole.values.resize(static_cast<std::size_t>(elements_of(shape)));
  for (const auto& [rank, piece] : dump.pieces(key)) {
    const std::vector<Axis> shared = expect::axes_named(piece->shared_over);
    const std::vector<int> place = expect::coordinates_on(spec, rank, shared);
    if (std::all_of(place.begin(), place.end(), [](int c) { return c == 0; })) {
      whole.placed.push_back({rank, piece, placement_runs(piece->placement, shape)});
      const std::vector<double> values = reader_of(dump, rank).read(*piece);
      place_values<double>(whole.placed.back().runs, values, whole.values);
    }
  }
  for (const PlacedPiece& placed : whole.placed) {
    whole.copy.pieces.push_back(&placed);
  }
  return whole;
}

RecordDifference compare_copies(const RecordPair& pair, const std::vector<HeldPiece>& left) {
  RecordDifference found;
  const Shape shape = shape_of(left);
  const Shape right_shape = shape_of(pair.right.pieces(pair.key));
  if (shape != right_shape) {
    found.problem =
        fmt::format("shapes differ: {} against {}", index_text(shape), index_text(right_shape));
    return found;
  }
  const WholeCopy a = whole_copy(pair.left, pair.key, shape);
  const WholeCopy b = whole_copy(pair.right, pair.key, shape);
  const std::int64_t elements = elements_of(shape);
  if (first_violation(a.copy, elements, {}) || first_violation(b.copy, elements, {})) {
    found.problem = "the pieces of a side do not cover the record exactly once";
    return found;
  }
  found.equality = compare_elements(a.values, b.values, 0);
  if (found.equality.different > 0) {
    const auto owner = owner_of(b.copy, found.equality.first);
    found.index = index_of(found.equality.first, shape);
    found.where = {owner->piece->rank, owner->piece->piece};
    found.place = owner->place;
  }
  return found;
}

}  // namespace

RecordDifference compare_record(const RecordPair& pair, const std::vector<HeldPiece>& pieces) {
  const std::vector<HeldPiece>& right = pair.right.pieces(pair.key);
  if (pieces.front().piece->type != right.front().piece->type) {
    RecordDifference found;
    found.problem = "element types differ";
    return found;
  }
  return same_pieces(pieces, right) ? compare_pieces(pair, pieces) : compare_copies(pair, pieces);
}

std::optional<double> relative_distance(const RecordPair& pair,
                                        const std::vector<HeldPiece>& pieces) {
  const Shape shape = shape_of(pieces);
  if (shape != shape_of(pair.right.pieces(pair.key))) {
    return std::nullopt;
  }
  const WholeCopy a = whole_copy(pair.left, pair.key, shape);
  const WholeCopy b = whole_copy(pair.right, pair.key, shape);
  const std::int64_t elements = elements_of(shape);
  if (first_violation(a.copy, elements, {}) || first_violation(b.copy, elements, {})) {
    return std::nullopt;
  }
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    error += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
    size += a.values[i] * a.values[i];
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

}  // namespace meshparity
