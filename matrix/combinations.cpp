#include "matrix/combinations.hpp"

#include <algorithm>

namespace meshparity {

Combinations::Combinations(const std::vector<Factor>& factors,
                           const std::vector<std::size_t>& among, std::size_t strength) {
  for (const Factor& factor : factors) {
    sizes_.push_back(factor.values.size());
  }
  // Every choice of `strength` of them, in lexicographic order.
  std::vector<bool> chosen(among.size(), false);
  std::fill_n(chosen.begin(), std::min(strength, among.size()), true);
  std::size_t count = 0;
  do {
    Group group;
    group.first = count;
    std::size_t size = 1;
    for (std::size_t i = 0; i < among.size(); ++i) {
      if (chosen[i]) {
        group.factors.push_back(among[i]);
        size *= sizes_[among[i]];
      }
    }
    count += size;
    groups_.push_back(std::move(group));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  held_.assign(count, 0);
  excluded_.assign(count, false);
}

std::size_t Combinations::place(const Group& group, const CoverRow& row) const {
  std::size_t place = 0;
  for (const std::size_t factor : group.factors) {
    place = place * sizes_[factor] + static_cast<std::size_t>(row[factor]);
  }
  return group.first + place;
}

Combination Combinations::at(std::size_t place) const {
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), place,
                       [](std::size_t wanted, const Group& group) { return wanted < group.first; });
  const Group& group = *std::prev(after);
  std::size_t rest = place - group.first;
  Combination combination(group.factors.size());
  for (std::size_t i = group.factors.size(); i-- > 0;) {
    const std::size_t factor = group.factors[i];
    combination[i] = {factor, static_cast<int>(rest % sizes_[factor])};
    rest /= sizes_[factor];
  }
  return combination;
}

std::size_t Combinations::gain(const CoverRow& row) const {
  return static_cast<std::size_t>(
      std::count_if(groups_.begin(), groups_.end(),
                    [&](const Group& group) { return held_[place(group, row)] == 0; }));
}

void Combinations::add(const CoverRow& row) {
  for (const Group& group : groups_) {
    ++held_[place(group, row)];
  }
}

void Combinations::remove(const CoverRow& row) {
  for (const Group& group : groups_) {
    --held_[place(group, row)];
  }
}

bool Combinations::is_spare(const CoverRow& row) const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [&](const Group& group) { return held_[place(group, row)] > 1; });
}

std::optional<std::size_t> Combinations::next_open(std::size_t place) const {
  for (; place < held_.size(); ++place) {
    if (held_[place] == 0 && !excluded_[place]) {
      return place;
    }
  }
  return std::nullopt;
}

}  // namespace meshparity
