// What ranks put into a sum, laid out over the record that the sum is: inputs of the reference's
// reduction laws (contracts.md §3, level all).
#pragma once
#include "fixtures/dump.hpp"
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Writes /local/contribution/<phase>/<record>/step<s>/<k>, [elements], for each of the ranks that
/// are added along dp (a gradient) or tp (the output of a row-parallel linear); nothing for other
/// records, nor where a rank's share does not lie as its piece does or a further sum follows.
void write_contributions(const JudgeContext& context, const RecordEvidence& record,
                         DumpWriter& writer);

}  // namespace meshparity
