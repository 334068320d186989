// Causal softmax attention of one head at a time: key j is seen by query i iff j <= i. Rows of q,
// k, v and context are tokens, [samples * sequence, heads * head_dim]; scores and probabilities are
// [samples, heads, sequence, sequence]. Dropout falls on the probabilities.
#pragma once
#include "parallel_impl/kernels/dropout.cuh"
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

struct AttentionShape {
  int samples = 0;
  int heads = 0;
  int sequence = 0;
  int head_dim = 0;

  MESHPARITY_HD int stride() const { return heads * head_dim; }
  /// Where the features of the first token of (sample, head) begin; `pair` counts both.
  MESHPARITY_HD int origin(int pair) const {
    return (pair / heads) * sequence * stride() + (pair % heads) * head_dim;
  }
};

template <class T>
MESHPARITY_HD T dot(const T* x, const T* y, int count) {
  T sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

/// One index a query: probs = softmax(scale * q k), context = dropout(probs) v.
template <class T>
struct AttentionForward {
  const T* q;
  const T* k;
  const T* v;
  const unsigned* words;  // laid out like probs; null: no dropout
  T* probs;
  T* context;
  AttentionShape shape;
  T scale;
  DropoutRule<T> rule;

  int groups() const { return shape.samples * shape.heads * shape.sequence; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int index) const {
    const int query = index % shape.sequence;
    const int origin = shape.origin(index / shape.sequence);
    T* row = probs + index * shape.sequence;
    softmax_row(group, row, query, origin);
    group.sync();
    for_lanes(group, shape.head_dim, [&](int c) {
      T sum = 0;
      for (int j = 0; j <= query; ++j) {
        const T p =
            words == nullptr ? row[j] : rule.apply(row[j], words[index * shape.sequence + j]);
        sum += p * v[origin + j * shape.stride() + c];
      }
      context[origin + query * shape.stride() + c] = sum;
    });
  }

  template <Group G>
  MESHPARITY_HD void softmax_row(const G& group, T* row, int query, int origin) const {
    const T* q_row = q + origin + query * shape.stride();
    T top = static_cast<T>(-INFINITY);
    for_lanes(group, query + 1, [&](int j) {
      row[j] = scale * dot(q_row, k + origin + j * shape.stride(), shape.head_dim);
      top = row[j] > top ? row[j] : top;
    });
    const T greatest = group.max(top);
    T sum = 0;
    for_lanes(group, query + 1, [&](int j) {
      row[j] = std::exp(row[j] - greatest);
      sum += row[j];
    });
    const T all = group.sum(sum);
    for_lanes(group, shape.sequence, [&](int j) { row[j] = j <= query ? row[j] / all : T(0); });
  }
};

/// One index a query: the gradient with respect to probs, before dropout: dropout(d_context v).
/// Zero where the query does not see the key.
template <class T>
struct AttentionProbsGrad {
  const T* v;
  const T* grad_context;
  const unsigned* words;
  T* grad_probs;
  AttentionShape shape;
  DropoutRule<T> rule;

  int groups() const { return shape.samples * shape.heads * shape.sequence; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int index) const {
    const int query = index % shape.sequence;
    const int origin = shape.origin(index / shape.sequence);
    const T* dy = grad_context + origin + query * shape.stride();
    T* row = grad_probs + index * shape.sequence;
    for_lanes(group, shape.sequence, [&](int j) {
      if (j > query) {
        row[j] = 0;
        return;
      }
      const T along = dot(dy, v + origin + j * shape.stride(), shape.head_dim);
      row[j] = words == nullptr ? along : rule.apply(along, words[index * shape.sequence + j]);
    });
  }
};

/// One index a (sample, head): dz_ij = p_ij (dp_ij - d_context_i . context_i), written over dp;
/// dq_i = scale sum_j dz_ij k_j, dk_j = scale sum_i dz_ij q_i, dv_j = sum_i dropout(p_ij)
/// d_context_i.
template <class T>
struct AttentionBackward {
  const T* q;
  const T* k;
  const T* probs;
  const T* context;
  const T* grad_context;
  const unsigned* words;
  T* grad_probs;  // in: from AttentionProbsGrad; out: the gradient of the scores
  T* grad_q;
  T* grad_k;
  T* grad_v;
  AttentionShape shape;
  T scale;
  DropoutRule<T> rule;

  int groups() const { return shape.samples * shape.heads; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int pair) const {
    const int origin = shape.origin(pair);
    const int square = pair * shape.sequence * shape.sequence;
    score_grad(group, origin, square);
    group.sync();
    for_lanes(group, shape.sequence, [&](int i) { query_grad(origin, square, i); });
    for_lanes(group, shape.sequence, [&](int j) { key_grad(origin, square, j); });
  }

  template <Group G>
  MESHPARITY_HD void score_grad(const G& group, int origin, int square) const {
    for_lanes(group, shape.sequence, [&](int i) {
      const int token = origin + i * shape.stride();
      const T shared = dot(grad_context + token, context + token, shape.head_dim);
      for (int j = 0; j <= i; ++j) {
        const int at = square + i * shape.sequence + j;
        grad_probs[at] = probs[at] * (grad_probs[at] - shared);
      }
    });
  }

  MESHPARITY_HD void query_grad(int origin, int square, int i) const {
    for (int c = 0; c < shape.head_dim; ++c) {
      T sum = 0;
      for (int j = 0; j <= i; ++j) {
        sum += grad_probs[square + i * shape.sequence + j] * k[origin + j * shape.stride() + c];
      }
      grad_q[origin + i * shape.stride() + c] = scale * sum;
    }
  }

  MESHPARITY_HD void key_grad(int origin, int square, int j) const {
    for (int c = 0; c < shape.head_dim; ++c) {
      T key_sum = 0;
      T value_sum = 0;
      for (int i = j; i < shape.sequence; ++i) {
        const int at = square + i * shape.sequence + j;
        const int token = origin + i * shape.stride() + c;
        const T p = words == nullptr ? probs[at] : rule.apply(probs[at], words[at]);
        key_sum += grad_probs[at] * q[token];
        value_sum += p * grad_context[token];
      }
      grad_k[origin + j * shape.stride() + c] = scale * key_sum;
      grad_v[origin + j * shape.stride() + c] = value_sum;
    }
  }
};

}  // namespace meshparity
