// A part of a run: its cases and relations are dealt round robin, in the plan's order.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "matrix/run_dir.hpp"

namespace meshparity {

/// Shard `number` (from 1) of `count`.
struct Shard {
  int number = 1;
  int count = 1;
  bool is_whole() const { return count == 1; }
  bool holds(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(number - 1);
  }
};

/// "2/4". Throws UsageError for anything that names no shard.
Shard parse_shard(const std::string& text);
/// "2/4"; empty when it is the whole.
std::string format_shard(const Shard& shard);

/// The plan with the cases and relations of its shard alone, those of others left out: relations
/// are dealt on where the cases end.
RunPlan own_part(const RunPlan& plan);

/// Those of `all` that the shard holds; the first is dealt at `place`.
template <class T>
std::vector<T> dealt(const std::vector<T>& all, const Shard& shard, std::size_t place) {
  std::vector<T> part;
  for (const T& each : all) {
    if (shard.holds(place++)) {
      part.push_back(each);
    }
  }
  return part;
}

}  // namespace meshparity
