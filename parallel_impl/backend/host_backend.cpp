#include "parallel_impl/backend/host_backend.hpp"

#include <cstring>
#include <new>

#include "parallel_impl/backend/backend_on.hpp"
#include "parallel_impl/backend/host_matmul.hpp"

namespace meshparity {
namespace {

/// Runs a kernel's indices one after the other, each on a group of one lane.
class HostDevice {
 public:
  template <class Kernel>
  void launch(const Kernel& kernel) const {
    const int groups = kernel.groups();
    for (int index = 0; index < groups; ++index) {
      kernel(OneLane{}, index);
    }
  }
  void launch(const Matmul<double>& product) const { double_product_(product); }
  void launch(const Matmul<float>& product) const { float_product_(product); }

  // A vector's width, so that no vector of a row crosses a cache line.
  static constexpr std::align_val_t kAlignment{64};
  void* allocate(std::size_t bytes) const { return ::operator new(bytes, kAlignment); }
  void free(void* data) const { ::operator delete(data, kAlignment); }
  void upload(const void* from, void* to, std::size_t bytes) const { copy(from, to, bytes); }
  void download(const void* from, void* to, std::size_t bytes) const { copy(from, to, bytes); }
  void clear(void* data, std::size_t bytes) const { std::memset(data, 0, bytes); }

 private:
  static void copy(const void* from, void* to, std::size_t bytes) {
    if (bytes > 0) {
      std::memcpy(to, from, bytes);
    }
  }

  HostMatmul<double> double_product_ = host_matmul<double>(best_instruction_set());
  HostMatmul<float> float_product_ = host_matmul<float>(best_instruction_set());
};

}  // namespace

template <class T>
std::unique_ptr<Backend<T>> make_host_backend() {
  return std::make_unique<BackendOn<T, HostDevice>>();
}

template std::unique_ptr<Backend<double>> make_host_backend<double>();
template std::unique_ptr<Backend<float>> make_host_backend<float>();

}  // namespace meshparity
