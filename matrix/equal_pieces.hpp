// One record of two dumps by equality.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "matrix/dump_set.hpp"
#include "matrix/equal_elements.hpp"
#include "matrix/placement_runs.hpp"

namespace meshparity {

struct RecordPair {
  const DumpSet& left;
  const DumpSet& right;
  RecordKey key;
};

struct RecordDifference {
  Equality equality;  // `first` is a place in the piece or, of whole copies, in the record
  HeldPiece where;    // the right side's piece with the first difference
  std::int64_t place = 0;
  Shape index;          // in the record's global shape
  std::string problem;  // why the record cannot be compared element by element; else empty
};

/// Both sides hold the record; `pieces` are the left side's. Piece by piece where both sides hold
/// the same pieces, else by one whole copy of each side.
RecordDifference compare_record(const RecordPair& pair, const std::vector<HeldPiece>& pieces);

/// |left - right| / |left| as Frobenius norms over one whole copy of each side; 0 where they are
/// equal, infinite where only the left side is zero. Nothing when a side does not hold the record
/// exactly once or the shapes differ.
std::optional<double> relative_distance(const RecordPair& pair,
                                        const std::vector<HeldPiece>& pieces);

}  // namespace meshparity
