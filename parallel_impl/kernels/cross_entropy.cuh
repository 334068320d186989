// Cross entropy over a vocabulary cut by columns: what each rank does between the all-reduces
// (algorithms.md §1.6). Label smoothing s moves the mass s from the label to the mean over the
// global logical vocabulary; padded columns take part in nothing.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// The columns of the logits that this rank holds.
struct VocabularySlice {
  int first = 0;    // global index of column 0
  int width = 0;    // columns in memory
  int logical = 0;  // of them without padding: the first ones
  int global = 0;   // the whole logical vocabulary
};

/// row_max[row] = greatest logical logit here; minus infinity where all columns are padding.
template <class T>
struct LogitMax {
  const T* logits;  // [rows, width]
  T* row_max;       // [rows]
  int rows;
  VocabularySlice slice;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* z = logits + row * slice.width;
    T top = static_cast<T>(-INFINITY);
    for_lanes(group, slice.logical, [&](int j) { top = z[j] > top ? z[j] : top; });
    const T greatest = group.max(top);
    if (group.lane() == 0) {
      row_max[row] = greatest;
    }
  }
};

/// This rank's part of three sums over the vocabulary, of logits less the row's maximum: the
/// label's logit, the exponentials, and (for smoothing) the logits themselves.
template <class T>
struct LogitSums {
  const T* logits;
  const T* row_max;   // [rows], over the whole vocabulary
  const int* labels;  // [rows]
  T* target;          // [rows]
  T* exponentials;    // [rows]
  T* plain;           // [rows]
  int rows;
  VocabularySlice slice;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* z = logits + row * slice.width;
    T exp_sum = 0;
    T plain_sum = 0;
    for_lanes(group, slice.logical, [&](int j) {
      exp_sum += std::exp(z[j] - row_max[row]);
      plain_sum += z[j] - row_max[row];
    });
    const T all_exp = group.sum(exp_sum);
    const T all_plain = group.sum(plain_sum);
    if (group.lane() == 0) {
      const int label = labels[row] - slice.first;
      target[row] = label >= 0 && label < slice.logical ? z[label] - row_max[row] : T(0);
      exponentials[row] = all_exp;
      plain[row] = all_plain;
    }
  }
};

/// loss[row] = weight * ((1 - s) * (ln E - target) + s * (ln E - plain / V))
template <class T>
struct TokenLoss {
  const T* target;
  const T* exponentials;
  const T* plain;
  const T* weights;  // [rows]
  T* loss;           // [rows]
  int rows;
  int vocabulary;
  double smoothing;

  int groups() const { return chunks_of(rows); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, rows, [&](int i) {
      const T log_sum = std::log(exponentials[i]);
      const auto hit = static_cast<double>(log_sum - target[i]);
      const auto mean = static_cast<double>(log_sum - plain[i] / static_cast<T>(vocabulary));
      loss[i] = weights[i] * static_cast<T>((1 - smoothing) * hit + smoothing * mean);
    });
  }
};

/// grad = weight * (softmax - (1 - s) [label] - s / V), zero in padded columns. May be in place.
template <class T>
struct LogitGrad {
  const T* logits;
  const T* row_max;
  const T* exponentials;
  const int* labels;
  const T* weights;
  T* grad;  // [rows, width]
  int rows;
  VocabularySlice slice;
  double smoothing;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* z = logits + row * slice.width;
    T* dz = grad + row * slice.width;
    const int label = labels[row] - slice.first;
    const double everywhere = smoothing / slice.global;
    for_lanes(group, slice.width, [&](int j) {
      if (j >= slice.logical) {
        dz[j] = 0;
        return;
      }
      const double wanted = everywhere + (j == label ? 1 - smoothing : 0);
      const T probability = std::exp(z[j] - row_max[row]) / exponentials[row];
      dz[j] = weights[row] * static_cast<T>(static_cast<double>(probability) - wanted);
    });
  }
};

}  // namespace meshparity
