#include "parallel_impl/comm/planted_group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace meshparity {
namespace {

int own_rank(const CommGroup& group) {
  return group.ranks[static_cast<std::size_t>(group.index)];
}

CommGroup with_ranks(const CommGroup& group, std::vector<int> ranks) {
  CommGroup other{group.axis, std::move(ranks), 0};
  const auto own = std::find(other.ranks.begin(), other.ranks.end(), own_rank(group));
  other.index = static_cast<int>(own - other.ranks.begin());
  return other;
}

}  // namespace

CommGroup everyone_with(const CommGroup& group, int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return with_ranks(group, std::move(ranks));
}

CommGroup half_of(const CommGroup& group) {
  const auto middle = group.ranks.begin() + group.size() / 2;
  return group.index < group.size() / 2 ? with_ranks(group, {group.ranks.begin(), middle})
                                        : with_ranks(group, {middle, group.ranks.end()});
}

CommGroup crosswise_to(const CommGroup& group, int world) {
  const int own = own_rank(group);
  const int stride = group.ranks[1] - group.ranks[0];
  std::vector<int> ranks;
  if (stride == 1) {
    for (int rank = own % group.size(); rank < world; rank += group.size()) {
      ranks.push_back(rank);
    }
  } else {
    ranks.resize(static_cast<std::size_t>(stride));
    std::iota(ranks.begin(), ranks.end(), own / stride * stride);
  }
  return with_ranks(group, std::move(ranks));
}

CommGroup reordered(const CommGroup& group) {
  std::vector<int> ranks = group.ranks;
  const int size = group.size();
  std::stable_sort(ranks.begin(), ranks.end(),
                   [size](int a, int b) { return a % size < b % size; });
  return with_ranks(group, std::move(ranks));
}

}  // namespace meshparity
