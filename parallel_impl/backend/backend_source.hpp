// Where a rank takes its backend from: the host, or the GPU that was chosen for it.
#pragma once
#include <functional>
#include <memory>
#include <type_traits>

#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {

struct BackendSource {
  std::function<std::unique_ptr<Backend<double>>()> in_double = make_host_backend<double>;
  std::function<std::unique_ptr<Backend<float>>()> in_float = make_host_backend<float>;

  template <class T>
  std::unique_ptr<Backend<T>> make() const {
    if constexpr (std::is_same_v<T, double>) {
      return in_double();
    } else {
      return in_float();
    }
  }
};

}  // namespace meshparity
