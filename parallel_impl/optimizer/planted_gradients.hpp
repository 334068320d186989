// What planted faults do to a step's gradients before they are summed, and to the clip norm.
#pragma once
#include <array>
#include <cstdint>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"

namespace meshparity {

/// On this rank, before any sum over ranks.
template <class T>
void plant_in_gradients(FaultPlan& faults, Backend<T>& backend, Parameters<T>& params,
                        bool sequence_parallel);

/// Squares summed in plain double, in parts of a rank, which are added rank after rank in the order
/// of the ranks' numbers modulo the group's size. They travel in a message like an exact sum's.
class PlainNorm {
 public:
  explicit PlainNorm(const CommGroup& group)
      : group_(group), parts_(words_.size() / static_cast<std::size_t>(group.size())) {}

  void add(double square);
  double norm(Comm& comm, const Site& site);

 private:
  std::size_t first_of(int index) const { return static_cast<std::size_t>(index) * parts_; }

  const CommGroup& group_;
  std::array<std::int64_t, ExactSum::kWords> words_{};  // bits of doubles
  std::size_t parts_;                                   // of a rank
  std::size_t added_ = 0;
};

}  // namespace meshparity
