// The reference rebased on a candidate: steps that began with the candidate's own states, and laws
// of its own steps. Read here; no law is known here.
#pragma once
#include <filesystem>
#include <map>
#include <vector>

#include "matrix/dump_set.hpp"

namespace meshparity {

class RebasedReference {
 public:
  /// Throws UsageError when the file is no whole dump.
  explicit RebasedReference(const std::filesystem::path& dump);

  const std::string& case_id() const { return dump_.header().case_id; }
  bool holds(const RecordKey& key) const { return !dump_.pieces(key).empty(); }
  /// Throws UsageError when the record is not held exactly once.
  std::vector<double> values(const RecordRow& row) const;
  /// Empty when none speaks of the record.
  const std::vector<LawRow>& laws(const RecordKey& key) const;
  LawValues values(const LawRow& law) const;

 private:
  DumpSet dump_;
  std::map<RecordKey, std::vector<LawRow>> laws_;
  std::vector<LawRow> none_;
};

}  // namespace meshparity
