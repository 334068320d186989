// AdamW with what planted faults make of it; with none planted, the kernel as it is.
#pragma once
#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

template <class T>
void run_planted(AdamW<T> kernel, FaultPlan& faults, Backend<T>& backend, int layer);

}  // namespace meshparity
