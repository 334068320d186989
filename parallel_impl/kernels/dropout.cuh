// Dropout by given random words: an element is kept iff its word is at least the threshold, and
// then divided by the probability of being kept.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// threshold = floor(p * 2^32). A null word array anywhere means no dropout. The probability stays
/// a double in every precision: rounded to T it would scale all elements by the same wrong factor.
template <class T>
struct DropoutRule {
  unsigned threshold = 0;
  double keep_probability = 1;

  MESHPARITY_HD T apply(T value, unsigned word) const {
    return word >= threshold ? static_cast<T>(static_cast<double>(value) / keep_probability) : T(0);
  }
};

/// out = dropout(x); the gradient of dropout is the same operation.
template <class T>
struct Dropout {
  const T* x;
  const unsigned* words;  // null: a copy
  T* out;
  int count;
  DropoutRule<T> rule;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count,
              [&](int i) { out[i] = words == nullptr ? x[i] : rule.apply(x[i], words[i]); });
  }
};

/// out = residual + dropout(branch)
template <class T>
struct ResidualDropout {
  const T* residual;
  const T* branch;
  const unsigned* words;  // null: out = residual + branch
  T* out;
  int count;
  DropoutRule<T> rule;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) {
      out[i] = residual[i] + (words == nullptr ? branch[i] : rule.apply(branch[i], words[i]));
    });
  }
};

}  // namespace meshparity
