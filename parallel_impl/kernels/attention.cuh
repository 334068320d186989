// Causal softmax attention of one head at a time: key j is seen by query i iff j <= i. Rows of q
// and context are tokens, [samples * sequence, heads * head_dim], those of k and v [samples *
// sequence, kv_heads * head_dim]; scores and probabilities are [samples, heads, sequence,
// sequence]. Dropout falls on the probabilities.
#pragma once
#include "parallel_impl/kernels/bfloat16.cuh"
#include "parallel_impl/kernels/dropout.cuh"
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// heads / kv_heads query heads in a row read the same key and value head.
struct AttentionShape {
  int samples = 0;
  int heads = 0;
  int kv_heads = 0;
  int sequence = 0;
  int head_dim = 0;

  MESHPARITY_HD int stride() const { return heads * head_dim; }
  MESHPARITY_HD int kv_stride() const { return kv_heads * head_dim; }
  MESHPARITY_HD int sharers() const { return heads / kv_heads; }
  /// Where the features of the first token of (sample, head) begin; `pair` counts both.
  MESHPARITY_HD int origin(int pair) const {
    return (pair / heads) * sequence * stride() + (pair % heads) * head_dim;
  }
  /// The same in k and v, of the head that (sample, query head) reads.
  MESHPARITY_HD int kv_origin(int pair) const {
    return (pair / heads) * sequence * kv_stride() + (pair % heads) / sharers() * head_dim;
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

template <class T>
MESHPARITY_HD T scaled(T value, double scale) {
  return static_cast<T>(scale * static_cast<double>(value));
}

/// One index a query: probs = softmax(scale * q k), context = dropout(probs) v. A sink is one more
/// logit of the softmax, whose probability goes nowhere.
template <class T>
struct AttentionForward {
  const T* q;
  const T* k;
  const T* v;
  const T* sinks;         // [heads]; null: none
  const unsigned* words;  // laid out like probs; null: no dropout
  T* probs;
  T* sink_probs;  // [samples, heads, sequence], with sinks only
  T* context;
  AttentionShape shape;
  double scale;  // not rounded to T: it would be the same error in every score
  DropoutRule<T> rule;
  int ahead = 0;          // keys beyond its own that a query sees: a planted fault
  bool is_short = false;  // weights meet the values as bfloat16

  int groups() const { return shape.samples * shape.heads * shape.sequence; }

  MESHPARITY_HD int last_seen(int query) const {
    return query + ahead < shape.sequence ? query + ahead : query;
  }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int index) const {
    const int query = index % shape.sequence;
    const int pair = index / shape.sequence;
    T* row = probs + index * shape.sequence;
    softmax_row(group, row, query, pair);
    group.sync();
    weighted_values(group, row, query, pair);
  }

  /// Keys in the outer loop: a weight is drawn once, and features lie side by side.
  template <Group G>
  MESHPARITY_HD void weighted_values(const G& group, const T* row, int query, int pair) const {
    const unsigned* drawn = words == nullptr ? nullptr : words + (row - probs);
    const T* value = v + shape.kv_origin(pair);
    T* out = context + shape.origin(pair) + query * shape.stride();
    const int last = last_seen(query);
    for_lanes(group, shape.head_dim, [&](int c) { out[c] = 0; });
    for (int j = 0; j <= last; ++j) {
      const T weight = drawn == nullptr ? row[j] : rule.apply(row[j], drawn[j]);
      const T p = is_short ? nearest_bfloat16(weight) : weight;
      for_lanes(group, shape.head_dim,
                [&](int c) { out[c] += p * value[j * shape.kv_stride() + c]; });
    }
  }

  template <Group G>
  MESHPARITY_HD void softmax_row(const G& group, T* row, int query, int pair) const {
    const T* q_row = q + shape.origin(pair) + query * shape.stride();
    const T* key = k + shape.kv_origin(pair);
    const int head = pair % shape.heads;
    const int last = last_seen(query);
    T top = sinks == nullptr ? static_cast<T>(-INFINITY) : sinks[head];
    for_lanes(group, last + 1, [&](int j) {
      row[j] = scaled(dot(q_row, key + j * shape.kv_stride(), shape.head_dim), scale);
      top = row[j] > top ? row[j] : top;
    });
    const T greatest = group.max(top);
    T sum = 0;
    for_lanes(group, last + 1, [&](int j) {
      row[j] = std::exp(row[j] - greatest);
      sum += row[j];
    });
    T all = group.sum(sum);
    if (sinks != nullptr) {
      const T sink = std::exp(sinks[head] - greatest);
      all += sink;
      if (group.lane() == 0) {
        sink_probs[pair * shape.sequence + query] = sink / all;
      }
    }
    for_lanes(group, shape.sequence, [&](int j) { row[j] = j <= last ? row[j] / all : T(0); });
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
    const int pair = index / shape.sequence;
    const T* dy = grad_context + shape.origin(pair) + query * shape.stride();
    const T* value = v + shape.kv_origin(pair);
    T* row = grad_probs + index * shape.sequence;
    for_lanes(group, shape.sequence, [&](int j) {
      if (j > query) {
        row[j] = 0;
        return;
      }
      const T along = dot(dy, value + j * shape.kv_stride(), shape.head_dim);
      row[j] = words == nullptr ? along : rule.apply(along, words[index * shape.sequence + j]);
    });
  }
};

/// One index a (sample, key head), for every query head that reads it:
/// dz_ij = p_ij (dp_ij - d_context_i . context_i), written over dp; dq_i = scale sum_j dz_ij k_j.
/// Summed over these query heads ascending, then i: dk_j = scale sum dz_ij q_i,
/// dv_j = sum dropout(p_ij) d_context_i.
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
  double scale;  // not rounded to T: it would be the same error in every score
  DropoutRule<T> rule;
  bool is_short = false;  // weights and gradients of scores are bfloat16

  int groups() const { return shape.samples * shape.kv_heads; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int kv_pair) const {
    const int first = kv_pair * shape.sharers();  // the first query head's pair
    for (int pair = first; pair < first + shape.sharers(); ++pair) {
      score_grad(group, pair);
    }
    group.sync();
    for (int pair = first; pair < first + shape.sharers(); ++pair) {
      for_lanes(group, shape.sequence, [&](int i) { query_grad(pair, i); });
    }
    for_lanes(group, shape.sequence, [&](int j) { key_grad(first, j); });
  }

  MESHPARITY_HD int square(int pair) const { return pair * shape.sequence * shape.sequence; }

  template <Group G>
  MESHPARITY_HD void score_grad(const G& group, int pair) const {
    for_lanes(group, shape.sequence, [&](int i) {
      const int token = shape.origin(pair) + i * shape.stride();
      const T shared = dot(grad_context + token, context + token, shape.head_dim);
      for (int j = 0; j <= i; ++j) {
        const int at = square(pair) + i * shape.sequence + j;
        const T dz = probs[at] * (grad_probs[at] - shared);
        grad_probs[at] = is_short ? nearest_bfloat16(dz) : dz;
      }
    });
  }

  /// Sums grow in place, keys in the outer loop: features lie side by side.
  MESHPARITY_HD void query_grad(int pair, int i) const {
    const T* dz = grad_probs + square(pair) + i * shape.sequence;
    const T* key = k + shape.kv_origin(pair);
    T* out = grad_q + shape.origin(pair) + i * shape.stride();
    clear(out);
    for (int j = 0; j <= i; ++j) {
      add(out, dz[j], key + j * shape.kv_stride());
    }
    scale_all(out);
  }

  MESHPARITY_HD void key_grad(int first, int j) const {
    const int at_key = shape.kv_origin(first) + j * shape.kv_stride();
    clear(grad_k + at_key);
    clear(grad_v + at_key);
    for (int pair = first; pair < first + shape.sharers(); ++pair) {
      for (int i = j; i < shape.sequence; ++i) {
        const int at = square(pair) + i * shape.sequence + j;
        const int token = shape.origin(pair) + i * shape.stride();
        const T weight = words == nullptr ? probs[at] : rule.apply(probs[at], words[at]);
        const T p = is_short ? nearest_bfloat16(weight) : weight;
        add(grad_k + at_key, grad_probs[at], q + token);
        add(grad_v + at_key, p, grad_context + token);
      }
    }
    scale_all(grad_k + at_key);
  }

  MESHPARITY_HD void clear(T* out) const {
    for (int c = 0; c < shape.head_dim; ++c) {
      out[c] = 0;
    }
  }
  MESHPARITY_HD void add(T* out, T factor, const T* features) const {
    for (int c = 0; c < shape.head_dim; ++c) {
      out[c] += factor * features[c];
    }
  }
  MESHPARITY_HD void scale_all(T* out) const {
    for (int c = 0; c < shape.head_dim; ++c) {
      out[c] = scaled(out[c], scale);
    }
  }
};

/// d sink = - sum over samples and queries ascending of p_sink (d_context . context), from zero;
/// one head a lane.
template <class T>
struct AttentionSinkGrad {
  const T* sink_probs;
  const T* context;
  const T* grad_context;
  T* grad_sinks;  // [heads]
  AttentionShape shape;

  int groups() const { return chunks_of(shape.heads); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, shape.heads, [&](int head) {
      T sum = 0;
      for (int sample = 0; sample < shape.samples; ++sample) {
        const int pair = sample * shape.heads + head;
        for (int i = 0; i < shape.sequence; ++i) {
          const int token = shape.origin(pair) + i * shape.stride();
          sum += sink_probs[pair * shape.sequence + i] *
                 dot(grad_context + token, context + token, shape.head_dim);
        }
      }
      grad_sinks[head] = -sum;
    });
  }
};

}  // namespace meshparity
