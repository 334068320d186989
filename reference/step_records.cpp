#include "reference/step_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "fixtures/error.hpp"
#include "fixtures/param_table.hpp"

namespace meshparity::reference {

StepRecords::StepRecords(const std::vector<RecordSpec>& table, Level level) {
  for (const RecordSpec& record : table) {
    if (record.level <= level) {
      places_[{record.phase, record.name}] = records_.size();
      const auto count = static_cast<std::size_t>(element_count(record.shape));
      records_.push_back({record, std::vector<double>(count)});
    }
  }
}

bool StepRecords::has(Phase phase, std::string_view name) const {
  return places_.contains({phase, std::string(name)});
}

std::size_t StepRecords::place(Phase phase, std::string_view name) const {
  const auto found = places_.find({phase, std::string(name)});
  if (found == places_.end()) {
    throw Error(fmt::format("looking up {}/{}: this level of the dump has no such record",
                            phase_name(phase), name));
  }
  return found->second;
}

std::span<const double> StepRecords::values(Phase phase, std::string_view name) const {
  return records_[place(phase, name)].values;
}

void StepRecords::put(Phase phase, std::string_view name, std::span<const double> values) {
  if (has(phase, name)) {
    std::vector<double>& target = records_[place(phase, name)].values;
    assert(target.size() == values.size());
    std::copy(values.begin(), values.end(), target.begin());
  }
}

void StepRecords::put(Phase phase, std::string_view name, double value) {
  put(phase, name, std::span(&value, 1));
}

std::span<double> StepRecords::part(std::size_t place, int sample, int batch) {
  std::vector<double>& values = records_[place].values;
  const std::size_t size = values.size() / static_cast<std::size_t>(batch);
  return std::span(values).subspan(static_cast<std::size_t>(sample) * size, size);
}

bool by_sample(const RecordSpec& record) {
  return record.phase == Phase::forward || record.phase == Phase::backward ||
         record.name == "loss.token";
}

}  // namespace meshparity::reference
