// The result store of a run: results.jsonl, one line a case, written as each case ends. Every
// renderer starts from what stands there.
#pragma once
#include <filesystem>
#include <fstream>
#include <vector>

#include "matrix/verdict.hpp"

namespace meshparity {

class ResultStore {
 public:
  /// Appends to the file. Throws Error when it cannot be opened.
  explicit ResultStore(std::filesystem::path file);
  /// Writes one line and flushes it. Throws Error when the disk refuses.
  void append(const CaseReport& report);

 private:
  std::filesystem::path file_;
  std::ofstream out_;
};

/// In the order in which they ended. Throws UsageError "FILE:LINE: ..."; a last line without its
/// newline is what an interrupted run leaves, and is left out.
std::vector<CaseReport> read_results(const std::filesystem::path& file);

/// Puts these in the file's place, whole or not at all. Throws Error when the disk refuses.
void replace_results(const std::filesystem::path& file, const std::vector<CaseReport>& reports);

/// <folder>/report.json, indented.
void write_report(const std::filesystem::path& folder, const CaseReport& report);

}  // namespace meshparity
