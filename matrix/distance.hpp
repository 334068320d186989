// How far two dumps are from each other, record by record: told, not judged.
#pragma once
#include "matrix/equal_records.hpp"

namespace meshparity {

/// The check "distance": a note a phase with its largest relative Frobenius distance and where it
/// is. Integers are left out. Inconclusive when a record of both sides cannot be compared.
CheckResult measure_distance(const DumpSet& left, const DumpSet& right, const RecordChoice& chosen);

}  // namespace meshparity
