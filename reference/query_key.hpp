// Queries and keys on their way from the projection to the scores: RMSNorm of each head, then
// rotary positions; a model has both, one or neither.
#pragma once
#include <optional>
#include <vector>

#include "reference/norm.hpp"
#include "reference/rope.hpp"

namespace meshparity::reference {

struct HeadNorm {
  NormWeights weights;  // weight [1, d], one for all heads
  NormPlace place;
};
struct ScorePath {
  const Rope* rope = nullptr;  // nullptr: learned positions
  std::optional<HeadNorm> norm;
};

/// From the projection [S, heads*d] to y of the same shape.
void enter_scores(const ScorePath& path, const Matrix& projection, Rounding& rounding,
                  NormTrace& trace, Matrix& y);
/// dy, in `gradient`, becomes the gradient of the projection; adds to that of the norm's weight.
void enter_scores_backward(const ScorePath& path, const NormTrace& trace, Rounding& rounding,
                           Matrix& gradient, std::vector<GradientSum>& sums);

}  // namespace meshparity::reference
