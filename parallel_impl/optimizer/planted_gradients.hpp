// What planted faults do to a step's gradients before they are summed, and to the clip norm.
#pragma once
#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/model/parameters.hpp"

namespace meshparity {

/// On this rank, before any sum over ranks.
template <class T>
void plant_in_gradients(FaultPlan& faults, Backend<T>& backend, Parameters<T>& params,
                        bool sequence_parallel);

/// The ranks' numbers added one after the other in plain double, in the order of their numbers
/// modulo the group's size. They travel in a message like that of an exact sum.
double plain_sum_over(const CommGroup& group, double own, Comm& comm, const Site& site);

}  // namespace meshparity
