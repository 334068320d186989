#include <algorithm>
#include <cassert>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

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
