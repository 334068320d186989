// The records of one step at one level, whole, as they fill up.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixtures/record_table.hpp"

namespace meshparity::reference {

struct FilledRecord {
  RecordSpec record;
  std::vector<double> values;
};

class StepRecords {
 public:
  /// Those of the table that `level` holds, all elements zero.
  StepRecords(const std::vector<RecordSpec>& table, Level level);

  const std::vector<FilledRecord>& all() const { return records_; }
  bool has(Phase phase, std::string_view name) const;
  /// Throws Error when there is none.
  std::span<const double> values(Phase phase, std::string_view name) const;
  /// Stores a whole record, if the level holds it.
  void put(Phase phase, std::string_view name, std::span<const double> values);
  void put(Phase phase, std::string_view name, double value);

  /// Place of a record in all(); sample s of a batch of B owns its s-th part of B equal ones.
  std::size_t place(Phase phase, std::string_view name) const;
  std::span<double> part(std::size_t place, int sample, int batch);

 private:
  std::vector<FilledRecord> records_;
  std::map<std::pair<Phase, std::string>, std::size_t> places_;
};

/// True for the records that are made sample by sample: forward, backward, token losses.
bool by_sample(const RecordSpec& record);

}  // namespace meshparity::reference
