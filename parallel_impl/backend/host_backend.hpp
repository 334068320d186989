// The backend of a host: one core, plain loops, and a product chosen by instruction set.
#pragma once
#include <memory>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

/// T is double or float.
template <class T>
std::unique_ptr<Backend<T>> make_host_backend();

}  // namespace meshparity
