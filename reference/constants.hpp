// The numbers that stand in the formulas themselves. Where a lane's types do not hold one exactly,
// a candidate works with its rounded neighbour, the same wherever the number is used: one common
// error, which fresh noise for each element does not have.
#pragma once

namespace meshparity::reference {

/// Class c of the noise: c becomes c (1 + delta), delta drawn once a replica, uniform within the
/// lane's u_e; a number that float32 holds exactly stays. That is true of all numbers of a model
/// file (learning rates, epsilons, limits, smoothing, dropout), so what follows from them is here.
/// 1 / tokens is drawn where it is made, once a step.
enum class Constant {
  label_share,          // 1 - s of the smoothed loss
  class_share,          // s / V
  keep_probability,     // 1 - p of dropout
  score_scale,          // 1 / sqrt(d)
  root_two,             // gelu's sqrt 2
  inverse_root_two_pi,  // of gelu's density
  mean_count,           // n of a mean over n, one for each n: who multiplies by 1/n rounds that
  rope_cosine,          // one for each place and pair
  rope_sine,
  clip_guard,  // what is added to the norm
};

}  // namespace meshparity::reference
