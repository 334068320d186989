// One collective as calls of NCCL on a stream. Where NCCL knows only equal parts, a group of its
// calls moves the unequal ones.
#pragma once
#include "parallel_impl/comm/nccl_group.hpp"

namespace meshparity {

/// Of the buffer that a send or a receive moves.
std::int64_t moved_count(const Collective& request);

struct NcclPut {
  NcclGroup& group;
  cudaStream_t stream;
  const CollectiveRow& row;

  /// Begins the call; every buffer lies on the GPU.
  void carry_out(const Collective& request) const;

 private:
  void reduce(const Collective& request) const;
  void reduce_scatter(const Collective& request) const;
  void all_gather(const Collective& request) const;
  void all_to_all(const Collective& request) const;
  void broadcast(const Collective& request) const;
  void pairwise(const Collective& request) const;
  void check(ncclResult_t result) const { group.begun(result, row, "putting it on the GPU"); }
  template <class Calls>
  void together(const Calls& calls) const;
};

}  // namespace meshparity
