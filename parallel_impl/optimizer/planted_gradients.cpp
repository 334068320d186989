#include "parallel_impl/optimizer/planted_gradients.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "parallel_impl/comm/planted_group.hpp"

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
  backend.run(Copy<T>{weight->grad, held.data(), weight->count()});
  backend.run(Copy<T>{bias->grad, weight->grad, weight->count()});
  backend.run(Copy<T>{held.data(), bias->grad, weight->count()});
}

/// Both uses of a tied weight in one buffer.
template <class T>
void share_tied_buffer(Backend<T>& backend, Parameters<T>& params) {
  for (Param<T>& head : params.all()) {
    if (head.shares_value) {
      Param<T>& embedding = params.at(head.spec.tied_to);
      backend.run(AddInto<T>{head.grad, embedding.grad, head.count()});
      backend.clear(head.grad, static_cast<std::size_t>(head.count()) * sizeof(T));
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

void PlainNorm::add(double square) {
  std::int64_t& word = words_[first_of(group_.index) + added_++ % parts_];
  word = std::bit_cast<std::int64_t>(std::bit_cast<double>(word) + square);
}

double PlainNorm::norm(Comm& comm, const Site& site) {
  comm.all_reduce(group_, std::span<std::int64_t>(words_), ReduceOp::sum, site);
  double sum = 0;
  for (const int rank : reordered(group_).ranks) {
    const auto place = std::find(group_.ranks.begin(), group_.ranks.end(), rank);
    const std::size_t first = first_of(static_cast<int>(place - group_.ranks.begin()));
    for (std::size_t part = 0; part < parts_; ++part) {
      sum += std::bit_cast<double>(words_[first + part]);
    }
  }
  return std::sqrt(sum);
}

template void plant_in_gradients(FaultPlan& faults, Backend<double>& backend,
                                 Parameters<double>& params, bool sequence_parallel);
template void plant_in_gradients(FaultPlan& faults, Backend<float>& backend,
                                 Parameters<float>& params, bool sequence_parallel);

}  // namespace meshparity
