// A device of BackendOn that distrusts the GPU: every launch runs on warps, on blocks and on the
// host over copies of the same memory, and what they leave is compared, guard values around each
// buffer too. Slow; for ci/gpu, and for tests over a GPU that is none.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "parallel_impl/backend/cuda_device.hpp"
#include "parallel_impl/backend/kernel_checks.hpp"

namespace meshparity {

class CheckedDevice {
 public:
  /// `checks` outlives it and may be shared by ranks.
  CheckedDevice(std::shared_ptr<CudaStream> stream, ProductKind products, KernelChecks& checks);

  template <class Kernel>
  void launch(const Kernel& kernel) {
    static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) % sizeof(void*) == 0);
    std::array<std::byte*, sizeof(Kernel) / sizeof(void*)> words;
    std::memcpy(words.data(), &kernel, sizeof(Kernel));
    Touched touched = copies_of({words.begin(), words.end()});
    for (std::byte*& word : words) {
      word = redirected(word, touched);
    }
    Kernel on_host = kernel;
    std::memcpy(static_cast<void*>(&on_host), words.data(), sizeof(Kernel));
    for (int index = 0; index < kernel.groups(); ++index) {
      on_host(OneLane{}, index);
    }
    const std::string name = kernel_name(typeid(Kernel));
    for (const CudaGroup group : {CudaGroup::warp, CudaGroup::block}) {
      put_back(touched);
      check_cuda(cuda_launch(kernel, group, stream_->get()), "launching " + name);
      compare(touched, name, scalar_of(kernel));
    }
    if constexpr (requires { products_.run(kernel); }) {
      put_back(touched);
      products_.run(kernel);
      compare(touched, name + by_cublas_, scalar_of(kernel));
    }
  }

  void* allocate(std::size_t bytes);
  void free(void* data);
  void upload(const void* from, void* to, std::size_t bytes);
  void download(const void* from, void* to, std::size_t bytes);
  void clear(void* data, std::size_t bytes);

 private:
  /// A buffer with its guards, before the launch and after it on the host.
  struct Copy {
    std::vector<std::byte> before;
    std::vector<std::byte> on_host;
  };
  using Touched = std::map<std::byte*, Copy>;  // by where the guarded buffer begins

  template <template <class> class Kernel, class T>
  static Scalar scalar_of(const Kernel<T>&) {
    return std::is_same_v<T, double> ? Scalar::wide : Scalar::narrow;
  }
  std::byte* owner_of(const std::byte* address) const;
  Touched copies_of(const std::vector<std::byte*>& words);
  std::byte* redirected(std::byte* word, Touched& touched) const;
  void put_back(const Touched& touched);
  void compare(const Touched& touched, const std::string& name, Scalar scalar);

  std::shared_ptr<CudaStream> stream_;
  KernelChecks& checks_;
  CudaProduct products_;
  const char* by_cublas_;
  std::map<std::byte*, std::size_t> held_;  // guarded buffers and their bytes
};

}  // namespace meshparity
