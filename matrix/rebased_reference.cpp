#include "matrix/rebased_reference.hpp"

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

RebasedReference::RebasedReference(const std::filesystem::path& dump) : dump_(dump) {
  require_readable(dump_);
  for (const auto& [rank, reader] : dump_.readers()) {
    for (const LawRow& law : reader.laws()) {
      laws_[{law.step, law.phase, law.record}].push_back(law);
    }
  }
}

std::vector<double> RebasedReference::values(const RecordRow& row) const {
  return reference_values(dump_, row);
}

const std::vector<LawRow>& RebasedReference::laws(const RecordKey& key) const {
  const auto found = laws_.find(key);
  return found == laws_.end() ? none_ : found->second;
}

LawValues RebasedReference::values(const LawRow& law) const {
  return dump_.readers().begin()->second.read_law(law);
}

}  // namespace meshparity
