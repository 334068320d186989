// What lies between the projection of queries or keys and their scores: an RMSNorm of every head,
// then the turn by position (rope), each where the model has it.
#pragma once
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

/// Cosines and sines of rope's angles, (position_offset + p) * rope_base^(-2i / head_dim), worked
/// out in double on the host. Empty with learned positions.
template <class T>
struct Rotation {
  Rotation(const ModelSpec& model, Memory& memory);
  Buffer<T> cosines, sines;  // [sequence, head_dim / 2]
};

template <class T>
class HeadTransform {
 public:
  struct Saved {
    /// Room for `heads` heads a token.
    Saved(const RankParts<T>& parts, SavedTags tags, int heads);
    Buffer<T> projected;  // [rows, heads * head_dim], with a norm only
    Buffer<T> inverse;    // [rows * heads], of the norm
  };

  /// A null weight is no norm.
  HeadTransform(RankParts<T>& parts, Param<T>* norm_weight, const Rotation<T>& rotation);

  /// In place. Heads are whole, so it may be cut by heads in any way.
  void forward(Tensor<T>& heads, Saved& saved) const;
  /// In place, from the gradient of the scores' side to that of the projection; the gradient of the
  /// norm's weight is Part over tp, since a rank sees its own heads alone.
  void backward(Tensor<T>& grad, const Saved& saved) const;

 private:
  void turn(Tensor<T>& heads, T direction) const;

  RankParts<T>& parts_;
  Param<T>* norm_weight_;
  const Rotation<T>& rotation_;
};

}  // namespace meshparity
