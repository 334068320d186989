// Memory that processes forked afterwards share; all zero at first.
#pragma once
#include <cstddef>

namespace meshparity {

class SharedMemory {
 public:
  /// Throws Error when there is no such memory. Pages that nobody touches cost nothing.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace meshparity
