// An owning array in a backend's memory, counted under its tag.
#pragma once
#include <cassert>
#include <cstdint>
#include <span>
#include <utility>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

/// `count` elements, zero at first. Moves, never copies; the memory outlives it.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Memory& memory, MemoryTag tag, std::int64_t count)
      : memory_(&memory), tag_(tag), count_(count) {
    data_ = static_cast<T*>(memory.acquire(bytes(), tag));
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Buffer() {
    if (memory_ != nullptr) {
      memory_->release(data_, bytes(), tag_);
    }
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t count() const { return count_; }

  /// Empty from now on; its memory is given back.
  void reset() { *this = Buffer(); }
  void clear() { memory_->clear(data_, bytes()); }
  void upload(std::span<const T> values) {
    assert(static_cast<std::int64_t>(values.size()) <= count_);
    memory_->upload(values.data(), data_, values.size_bytes());
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(tag_, other.tag_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
  }

  Memory* memory_ = nullptr;
  MemoryTag tag_ = MemoryTag::buffer;
  std::int64_t count_ = 0;
  T* data_ = nullptr;
};

}  // namespace meshparity
