// global.h5 beside the files of a dump: each record as one dataset over the pieces of all ranks,
// for people. Nothing of ours reads through it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace meshparity {

struct GlobalView {
  std::filesystem::path file;
  int records = 0;
  std::vector<std::string> left_out;  // "grad x step 0": a piece is no box
};

/// Writes /step0/forward/layer0.out and so on, as far as pieces reach along each dim; a copy is
/// taken from the least rank that has it; elements that no rank has are NaN. Throws UsageError when
/// `dump` is no folder of rank files, one of them cannot be read, or there is a global.h5 already.
GlobalView write_global_view(const std::filesystem::path& dump);

}  // namespace meshparity
