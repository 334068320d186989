#include "parallel_impl/comm/shared_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "fixtures/error.hpp"

namespace meshparity {

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(fmt::format("mapping {} bytes that ranks share: {}", bytes, std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  ::munmap(data_, size_);
}

}  // namespace meshparity
