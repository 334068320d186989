#include <algorithm>
#include <cassert>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

std::string_view memory_tag_name(MemoryTag tag) {
  constexpr std::array<std::string_view, kMemoryTags> kNames = {
      "parameter", "gradient", "optimizer", "activation_B", "activation_W", "buffer"};
  return kNames.at(static_cast<std::size_t>(tag));
}

void* Memory::acquire(std::size_t bytes, MemoryTag tag) {
  void* data = allocate(bytes);
  clear(data, bytes);
  MemoryUse& use = use_[static_cast<std::size_t>(tag)];
  use.current += static_cast<std::int64_t>(bytes);
  use.peak = std::max(use.peak, use.current);
  return data;
}

void Memory::release(void* data, std::size_t bytes, MemoryTag tag) {
  MemoryUse& use = use_[static_cast<std::size_t>(tag)];
  use.current -= static_cast<std::int64_t>(bytes);
  assert(use.current >= 0);
  free(data);
}

}  // namespace meshparity
