#include "parallel_impl/optimizer/planted_gradients.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "parallel_impl/comm/planted_group.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"

namespace meshparity {
namespace {

/// Weight and bias of the first norm arrive in the other order.
template <class T>
void swap_first_norm(Backend<T>& backend, Parameters<T>& params) {
  Param<T>* const weight = params.find("layer0.norm1.weight");
  Param<T>* const bias = params.find("layer0.norm1.bias");
  if (weight == nullptr || bias == nullptr) {
    return;
  }
  Buffer<T> held(backend, MemoryTag::buffer, weight->count());
  backend.run(Copy<T>{weight->grad.data(), held.data(), weight->count()});
  backend.run(Copy<T>{bias->grad.data(), weight->grad.data(), weight->count()});
  backend.run(Copy<T>{held.data(), bias->grad.data(), weight->count()});
}

/// Both uses of a tied weight in one buffer.
template <class T>
void share_tied_buffer(Backend<T>& backend, Parameters<T>& params) {
  for (Param<T>& head : params.all()) {
    if (head.is_tied()) {
      Param<T>& embedding = params.at(head.spec.tied_to);
      backend.run(AddInto<T>{head.grad.data(), embedding.grad.data(), head.count()});
      head.grad.clear();
    }
  }
}

}  // namespace

template <class T>
void plant_in_gradients(FaultPlan& faults, Backend<T>& backend, Parameters<T>& params,
                        bool sequence_parallel) {
  if (faults.fires("norm_grads_swapped", 0)) {
    swap_first_norm(backend, params);
  }
  if (sequence_parallel && faults.fires("tied_grads_in_one_buffer")) {
    share_tied_buffer(backend, params);
  }
}

double plain_sum_over(const CommGroup& group, double own, Comm& comm, const Site& site) {
  std::array<std::int64_t, ExactSum::kWords> words{};
  assert(group.size() <= ExactSum::kWords);
  words[static_cast<std::size_t>(group.index)] = std::bit_cast<std::int64_t>(own);
  comm.all_reduce(group, std::span<std::int64_t>(words), ReduceOp::sum, site);
  double sum = 0;
  for (const int rank : reordered(group).ranks) {
    const auto place = std::find(group.ranks.begin(), group.ranks.end(), rank);
    sum += std::bit_cast<double>(words[static_cast<std::size_t>(place - group.ranks.begin())]);
  }
  return sum;
}

template void plant_in_gradients(FaultPlan& faults, Backend<double>& backend,
                                 Parameters<double>& params, bool sequence_parallel);
template void plant_in_gradients(FaultPlan& faults, Backend<float>& backend,
                                 Parameters<float>& params, bool sequence_parallel);

}  // namespace meshparity
