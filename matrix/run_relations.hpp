// Exact relations: both cases of each are run by the candidate alone, and their dumps must be
// equal.
#pragma once
#include <vector>

#include "matrix/run_matrix.hpp"

namespace meshparity {

/// One report a relation, in their order: check "equal", or "liveness" where a run did not end.
/// Cases that several relations name run once. Uses the request's worker, models, text, jobs,
/// limits; dumps stay by `keep`, under relations/ of the folder.
std::vector<CaseReport> run_relations(const RunRequest& request,
                                      const std::vector<PlannedRelation>& relations,
                                      const RunDir& dir, const RunHooks& hooks,
                                      bool stopped = false);

}  // namespace meshparity
