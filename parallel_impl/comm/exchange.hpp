// What a member of a group takes from the others once all have shown their inputs, for transports
// whose ranks see each other's memory. Sums run in canonical order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel_impl/comm/collective.hpp"

namespace meshparity {

/// The input that one member shows, and how an all_to_all cuts it.
struct Shown {
  Payload input;
  const std::vector<std::int64_t>* input_parts = nullptr;
};

void copy_elements(const Payload& from, std::int64_t first, const Payload& to, std::int64_t place,
                   std::int64_t count);

/// Fills the output of `request` from what all have shown, by index in the group. Of an all_reduce
/// only this rank's slice of the sum is made, in `shared`: with 8 ranks every element is added
/// once, not eight times. Peers may wait for this without a limit: it throws nothing.
void read_from(const Collective& request, const std::vector<Shown>& others,
               std::byte* shared) noexcept;

}  // namespace meshparity
