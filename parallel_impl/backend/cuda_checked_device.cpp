#include "parallel_impl/backend/cuda_checked_device.hpp"

#include <algorithm>

namespace meshparity {

CheckedDevice::CheckedDevice(std::shared_ptr<CudaStream> stream, ProductKind products,
                             KernelChecks& checks)
    : stream_(std::move(stream)),
      checks_(checks),
      products_(*stream_, products),
      by_cublas_(products == ProductKind::bf16 ? " by cuBLAS of bf16" : " by cuBLAS") {}

void* CheckedDevice::allocate(std::size_t bytes) {
  const std::size_t guarded = bytes + 2 * kGuardBytes;
  void* data = nullptr;
  check_cuda(cudaMallocAsync(&data, guarded, stream_->get()), "allocating a guarded buffer");
  stream_->fill(data, static_cast<int>(kGuard), guarded, "writing guards");
  held_[static_cast<std::byte*>(data)] = guarded;
  return static_cast<std::byte*>(data) + kGuardBytes;
}

void CheckedDevice::free(void* data) {
  std::byte* const begin = static_cast<std::byte*>(data) - kGuardBytes;
  held_.erase(begin);
  cudaFreeAsync(begin, stream_->get());
}

void CheckedDevice::upload(const void* from, void* to, std::size_t bytes) {
  stream_->copy(from, to, bytes, "copying to the GPU");
}

void CheckedDevice::download(const void* from, void* to, std::size_t bytes) {
  stream_->copy(from, to, bytes, "copying from the GPU");
  stream_->finish("copying from the GPU");
}

void CheckedDevice::clear(void* data, std::size_t bytes) {
  stream_->fill(data, 0, bytes, "clearing memory of the GPU");
}

std::byte* CheckedDevice::owner_of(const std::byte* address) const {
  auto after = held_.upper_bound(const_cast<std::byte*>(address));
  if (after == held_.begin()) {
    return nullptr;
  }
  --after;
  return address < after->first + after->second ? after->first : nullptr;
}

// A field of a kernel is a pointer where its eight bytes are an address in one of our buffers;
// sizes and factors are no such addresses.
CheckedDevice::Touched CheckedDevice::copies_of(const std::vector<std::byte*>& words) {
  Touched touched;
  for (const std::byte* const word : words) {
    std::byte* const owner = owner_of(word);
    if (owner != nullptr && !touched.contains(owner)) {
      std::vector<std::byte> before(held_.at(owner));
      download(owner, before.data(), before.size());
      touched[owner] = {before, before};
    }
  }
  return touched;
}

std::byte* CheckedDevice::redirected(std::byte* word, Touched& touched) const {
  std::byte* const owner = owner_of(word);
  return owner == nullptr ? word : touched.at(owner).on_host.data() + (word - owner);
}

void CheckedDevice::put_back(const Touched& touched) {
  for (const auto& [begin, copy] : touched) {
    upload(copy.before.data(), begin, copy.before.size());
  }
}

void CheckedDevice::compare(const Touched& touched, const std::string& name, Scalar scalar) {
  const std::size_t width = scalar == Scalar::wide ? sizeof(double) : sizeof(float);
  TwoSides sides;
  for (const auto& [begin, copy] : touched) {
    sides.terms = std::max(sides.terms, static_cast<double>(copy.before.size() / width));
    sides.magnitude = std::max({sides.magnitude, largest_magnitude(copy.before, scalar),
                                largest_magnitude(copy.on_host, scalar)});
  }
  for (const auto& [begin, copy] : touched) {
    std::vector<std::byte> after(copy.before.size());
    download(begin, after.data(), after.size());
    sides.gpu = after;
    sides.host = copy.on_host;
    checks_.compare(name, scalar, sides);
  }
}

}  // namespace meshparity
