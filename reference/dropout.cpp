#include "reference/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace meshparity::reference {

void draw_mask(const WordStream& words, std::uint64_t first, double probability,
               DropoutMask& mask) {
  std::vector<std::uint32_t> drawn(static_cast<std::size_t>(mask.keep.size()));
  words.fill(first, drawn);
  const auto threshold = static_cast<std::uint32_t>(std::floor(std::ldexp(probability, 32)));
  std::transform(drawn.begin(), drawn.end(), mask.keep.data(),
                 [&](std::uint32_t word) { return word >= threshold ? 1.0 : 0.0; });
  mask.keep_probability = 1 - probability;
}

void dropout(const Matrix& x, const DropoutMask& mask, Rounding& rounding, Matrix& y) {
  if (mask.keep.size() == 0) {
    y = x;
    return;
  }
  const double kept = rounding.constant(Constant::keep_probability, mask.keep_probability);
  y = x.array() * mask.keep.array() / kept;
  rounding.elementwise(y);
}

}  // namespace meshparity::reference
