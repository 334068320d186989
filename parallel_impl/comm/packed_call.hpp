// A call as bytes, for ranks that do not see each other's memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel_impl/comm/collective.hpp"

namespace meshparity {

/// Everything but where the buffers lie and when it happened.
std::vector<std::byte> pack_call(const Collective& request, const CollectiveRow& row);

struct UnpackedCall {
  Collective request;  // its buffers lie nowhere
  CollectiveRow row;
  std::int64_t clock = 0;  // that a send carries
};
/// Throws Error when the bytes are no packed call.
UnpackedCall unpack_call(std::span<const std::byte> bytes);

}  // namespace meshparity
