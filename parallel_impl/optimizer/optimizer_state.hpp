// What an optimizer keeps of a rank's parameters between steps, in type S: of each bucket the part
// that this rank owns, padding included.
#pragma once
#include <cstddef>
#include <vector>

#include "parallel_impl/backend/buffer.hpp"

namespace meshparity {

/// Where a parameter's own part lies: in which bucket, from which element of the rank's part on.
struct StatePlace {
  std::size_t bucket = 0;
  int place = 0;
};

template <class S>
struct OptimizerState {
  /// Of one bucket; without elements where there is none.
  struct Part {
    Buffer<S> master, moment1, moment2;
  };
  std::vector<Part> parts;

  /// Null where there is none.
  S* at(Buffer<S> Part::*kind, const StatePlace& place) {
    Buffer<S>& held = parts[place.bucket].*kind;
    return held.count() > 0 ? held.data() + place.place : nullptr;
  }
  const S* at(Buffer<S> Part::*kind, const StatePlace& place) const {
    const Buffer<S>& held = parts[place.bucket].*kind;
    return held.count() > 0 ? held.data() + place.place : nullptr;
  }
};

}  // namespace meshparity
