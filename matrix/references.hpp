// The second phase of a run: every reference that its cases need, from the cache or made in one
// launch.
#pragma once
#include <map>
#include <string>

#include "matrix/reference_cache.hpp"
#include "matrix/run_matrix.hpp"

namespace meshparity {

/// A reference that is there, or why it is not. Without folder and failure: a probe's, which is
/// compared with none.
struct Reference {
  std::filesystem::path folder;
  std::string failure;  // empty: whole
};

/// The reference of a case as its lane needs it: the key, in the precision whose companions serve
/// it (fp64 for fp32's), with masters among its records where the case keeps them, and with the
/// noise of gradients that travel rounded where they do.
std::string reference_run(const CaseSpec& spec);
ReferenceKey key_of(const PlannedCase& planned, Level level);

/// Companions of level `all` serve one run and are kept with it; the others go to the cache.
std::map<ReferenceKey, Reference> prepare_references(const RunRequest& request, const RunDir& dir,
                                                     const RunHooks& hooks);

}  // namespace meshparity
