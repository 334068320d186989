// Dropout with given keep decisions: y = keep ? x / (1 - p) : 0 (algorithms.md §10.3). Backward is
// the same map applied to dy.
#pragma once
#include <cstdint>

#include "fixtures/random_words.hpp"
#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// Keep decisions of one site for one sample.
struct DropoutMask {
  Matrix keep;  // 1 or 0; without elements: dropout is off
  double keep_probability = 1;
};

/// The decisions for elements [first, first + rows*columns) of the site: keep iff the element's
/// word is at least floor(p 2^32).
void draw_mask(const WordStream& words, std::uint64_t first, double probability, DropoutMask& mask);

void dropout(const Matrix& x, const DropoutMask& mask, Rounding& rounding, Matrix& y);

}  // namespace meshparity::reference
