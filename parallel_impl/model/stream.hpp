// How activations enter and leave the tensor-parallel regions. Between them every rank holds all
// rows, or with sequence parallelism its share of the rows (algorithms.md §2).
#pragma once
#include <vector>

#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

/// Part -> Rep: the sum over the tensor-parallel group, in its canonical order. With ranks holding
/// (1, 2) and (10, 20), both end with (11, 22).
template <class T>
void sum_over_tp(RankParts<T>& parts, Tensor<T>& values, const Site& site) {
  values.demand(part());
  parts.comm.all_reduce(parts.tp, values.span(), ReduceOp::sum, site);
  values.tp = rep();
}

/// Elements of [rows, hidden] that each rank's share of the rows has.
template <class T>
std::vector<std::int64_t> stream_parts(const RankParts<T>& parts) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < parts.tp.size(); ++rank) {
    const RowRange share = row_share(parts.extent.rows, parts.tp.size(), rank);
    counts.push_back(static_cast<std::int64_t>(share.count) * parts.model.hidden);
  }
  return counts;
}

/// The stream's x with all its rows: x itself where no rows are cut, else gathered into `into`.
template <class T>
Tensor<T> all_rows(RankParts<T>& parts, const Tensor<T>& x, Buffer<T>& into, const Site& site) {
  x.demand(parts.stream());
  if (!parts.extent.cuts_rows) {
    return x;
  }
  Tensor<T> all = matrix_in(into, parts.extent.rows, rep());
  parts.comm.all_gather(parts.tp, std::span<const T>(x.span()), all.span(), stream_parts(parts),
                        site);
  return all;
}

/// Where a rank forms its share of a sum that leaves to `out`: all rows, Part.
template <class T>
Tensor<T> before_sum(RankParts<T>& parts, const Tensor<T>& out) {
  Tensor<T> whole =
      parts.extent.cuts_rows ? matrix_in(parts.work.whole, parts.extent.rows, part()) : out;
  whole.tp = part();
  return whole;
}

/// From before_sum into the stream: an all-reduce, or where rows are cut a reduce-scatter.
template <class T>
void sum_into_stream(RankParts<T>& parts, Tensor<T> whole, Tensor<T>& out, const Site& site) {
  if (!parts.extent.cuts_rows) {
    sum_over_tp(parts, whole, site);
  } else {
    whole.demand(part());
    parts.comm.reduce_scatter(parts.tp, std::span<const T>(whole.span()), out.span(),
                              stream_parts(parts), site);
  }
  out.tp = parts.stream();
}

}  // namespace meshparity
