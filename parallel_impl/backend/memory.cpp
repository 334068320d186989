#include <algorithm>
#include <cassert>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {
namespace {

// AddressSanitizer sees the use of memory after its release only where it is given back.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsIdle = false;
#else
constexpr bool kKeepsIdle = true;
#endif

}  // namespace

std::string_view memory_tag_name(MemoryTag tag) {
  constexpr std::array<std::string_view, kMemoryTags> kNames = {
      "parameter", "gradient", "optimizer", "activation_B", "activation_W", "buffer"};
  return kNames.at(static_cast<std::size_t>(tag));
}

void* Memory::acquire(std::size_t bytes, MemoryTag tag) {
  void* const idle = take_idle(bytes);
  void* data = idle != nullptr ? idle : allocate(bytes);
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
  if (kKeepsIdle && bytes > 0) {
    idle_[bytes].push_back(data);
  } else {
    free(data);
  }
}

void* Memory::take_idle(std::size_t bytes) {
  const auto found = idle_.find(bytes);
  if (found == idle_.end() || found->second.empty()) {
    return nullptr;
  }
  void* const data = found->second.back();
  found->second.pop_back();
  return data;
}

void Memory::free_idle() {
  for (const auto& [bytes, blocks] : idle_) {
    for (void* const data : blocks) {
      free(data);
    }
  }
  idle_.clear();
}

}  // namespace meshparity
