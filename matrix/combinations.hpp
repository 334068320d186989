// The combinations of values that a cover is made of, each counted as rows hold it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "matrix/cover.hpp"

namespace meshparity {

/// All combinations of `strength` values of unlike factors among some, in a fixed order.
class Combinations {
 public:
  /// `among` are places of factors, ascending; fewer than `strength` are combined all.
  Combinations(const std::vector<Factor>& factors, const std::vector<std::size_t>& among,
               std::size_t strength);

  std::size_t size() const { return held_.size(); }
  Combination at(std::size_t place) const;

  /// How many combinations the row would hold first.
  std::size_t gain(const CoverRow& row) const;
  void add(const CoverRow& row);
  void remove(const CoverRow& row);
  /// Whether each combination of the row stands in another row as well.
  bool is_spare(const CoverRow& row) const;
  /// The first at or after `place` that no row holds and that is not excluded.
  std::optional<std::size_t> next_open(std::size_t place) const;
  void exclude(std::size_t place) { excluded_[place] = true; }
  void take_back(std::size_t place) { excluded_[place] = false; }
  bool is_held(std::size_t place) const { return held_[place] > 0; }

 private:
  struct Group {
    std::vector<std::size_t> factors;
    std::size_t first = 0;  // place of its first combination
  };
  std::size_t place(const Group& group, const CoverRow& row) const;

  std::vector<std::size_t> sizes_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> held_;  // by rows
  std::vector<bool> excluded_;
};

}  // namespace meshparity
