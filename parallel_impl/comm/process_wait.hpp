// How a rank that is a process waits for its peers.
#pragma once
#include "parallel_impl/comm/patient_wait.hpp"
#include "parallel_impl/comm/process_world.hpp"

namespace meshparity {

template <class Done, class Hopeless>
WaitEnd wait_on_bell(const ProcessWorld& world, int rank, const Done& done,
                     const Hopeless& hopeless) {
  // Read before the first look: a ring after it is not slept through.
  std::uint32_t heard = world.line(rank).bell.load();
  if (yield_until(done)) {
    return WaitEnd::done;
  }
  const auto nap = [&](std::chrono::milliseconds longest) {
    return world.sleep(rank, heard, longest);
  };
  return wait_patiently(nap, world.state(), done, hopeless);
}

}  // namespace meshparity
