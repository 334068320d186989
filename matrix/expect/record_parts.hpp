// Where a rank's piece of an activation record lies, by matrix's own formulas (algorithms.md §1,
// §2, §9.3; contracts.md §2): samples by dp and micro-batch, heads, features and vocabulary by tp,
// rows by sequence parallelism, blocks by pipelines.
#pragma once
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Whether a record belongs to samples, so that a rank has a piece of it for each micro-batch:
/// phases forward and backward, loss.token, sample_ids.
bool is_of_samples(const RecordSpec& record);

/// Whether a rank has a piece of a record: its stage holds the record's piece of the model; what
/// belongs to no piece (the loss, scalars, sample ids, counters) every rank has.
bool holds(const RecordSpec& record, const Layout& layout, int rank);

/// The rank's piece of micro-batch `mb`, in boxes of one sample; their number is no part of the
/// formula, the elements and their order are. Throws Error for a name that has no formula.
Placement part_of(const RecordSpec& record, const Layout& layout, int rank, int mb);

/// The rank's piece of what belongs to no sample and is no parameter's: all of it, but of the
/// versions of a pipeline's weights its own stage's.
Placement part_of_step(const RecordSpec& record, const Layout& layout, int rank);

/// Rows (sample, position) of a micro-batch on a replica.
std::int64_t rows_of_micro_batch(const Layout& layout);

}  // namespace meshparity::expect
