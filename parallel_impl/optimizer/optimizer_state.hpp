// What an optimizer keeps of a rank's parameters between steps, in type S: of each bucket the part
// that this rank owns, without padding.
#pragma once
#include <algorithm>
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
  struct Part {
    Buffer<S> master, moment1, moment2;
  };
  using Kind = Buffer<S> Part::*;

  std::vector<Kind> kinds;  // that this optimizer keeps; the others have no elements
  std::vector<Part> parts;  // by bucket; none of one whose values are another's

  bool keeps(Kind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
  S* at(Kind kind, const StatePlace& place) {
    return (parts[place.bucket].*kind).data() + place.place;
  }
  const S* at(Kind kind, const StatePlace& place) const {
    return (parts[place.bucket].*kind).data() + place.place;
  }
};

}  // namespace meshparity
