// Ownership by matrix's own formula: each rank holds the part of a record that its place on the
// mesh gives it. Coverage alone would be content with ranks that hold each other's parts.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Whether a rank must hold a piece of a record, an empty one at least: its stage has the record.
/// A shard without an element needs none. Where no formula speaks every rank of a layout without
/// pipeline must.
bool must_hold(const JudgeContext& context, const RecordSpec& record, int rank);

/// Where a piece of the rank's micro-batch `mb` is due, nowhere on a rank of another stage; nothing
/// where no formula speaks: a foreign candidate, a layout or a model that is not known.
std::optional<Placement> due_placement(const JudgeContext& context, const RecordSpec& record,
                                       int rank, int mb);

/// False, with a finding of coverage, when a piece lies elsewhere than is due: the first one.
bool check_owners(const JudgeContext& context, const RecordEvidence& record, CheckResult& result);

}  // namespace meshparity
