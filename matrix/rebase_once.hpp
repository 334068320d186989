// One candidate's rebased reference, made in a launch of its own: for `compare`.
#pragma once
#include <filesystem>
#include <string>

#include "fixtures/case_spec.hpp"
#include "matrix/dump_set.hpp"

namespace meshparity {

struct RebaseSetup {
  std::filesystem::path program;  // meshparity-reference
  std::filesystem::path models;
  std::filesystem::path text;    // empty when the case reads none
  std::filesystem::path folder;  // exists, is empty
  Level level = Level::standard;
};

/// The rebased reference's dump. Throws Error saying why there is none.
std::filesystem::path rebase_once(const CaseSpec& spec, const DumpSet& reference,
                                  const DumpSet& candidate, const RebaseSetup& setup);

}  // namespace meshparity
