#include "parallel_impl/bench/gpu_work.hpp"

#include <algorithm>

#include "parallel_impl/backend/cuda_device.hpp"

namespace meshparity {
namespace {

constexpr double kWord = sizeof(unsigned);  // of dropout; an index is as long
constexpr double kShort = sizeof(Bfloat16);
constexpr double kWide = sizeof(double);

int probabilities(const WorkSizes& sizes) {
  return sizes.samples * sizes.heads * sizes.sequence * sizes.sequence;
}

std::vector<int> scattered_tokens(const WorkSizes& sizes) {
  std::vector<int> tokens;
  for (int row = 0; row < sizes.rows; ++row) {
    tokens.push_back(static_cast<int>(row * 7919LL % sizes.vocabulary));
  }
  return tokens;
}

}  // namespace

// Buffers that kernels share: five tensors, vectors of rows or columns, words, indices, masters.
template <class T>
struct GpuWorkTable<T>::Memory {
  Memory(Backend<T>& backend, const WorkSizes& sizes, int count)
      : words(backend, MemoryTag::buffer, std::max(count, probabilities(sizes))),
        tokens(backend, MemoryTag::buffer, sizes.rows) {
    const int large = std::max(count, probabilities(sizes));
    const int lines = std::max({sizes.rows, sizes.width, probabilities(sizes) / sizes.sequence});
    for (int i = 0; i < 8; ++i) {
      tensors.emplace_back(backend, MemoryTag::buffer, i < 5 ? large : lines);
    }
    for (int i = 0; i < 3; ++i) {
      masters.emplace_back(backend, MemoryTag::buffer, count);
    }
    tokens.upload(scattered_tokens(sizes));
  }
  T* at(std::size_t place) { return tensors[place].data(); }

  std::vector<Buffer<T>> tensors;
  std::vector<Buffer<double>> masters;
  Buffer<unsigned> words;
  Buffer<int> tokens;
};

template <class T>
GpuWorkTable<T>::GpuWorkTable(Backend<T>& backend, const WorkSizes& sizes)
    : backend_(backend),
      sizes_(sizes),
      count_(sizes.rows * sizes.width),
      memory_(std::make_unique<Memory>(backend, sizes, count_)) {
  add_elementwise();
  add_rounding();
  add_norms();
  add_rows_of_tokens();
  add_attention();
  add_vocabulary();
  add_updates();
  add_masters();
}

template <class T>
GpuWorkTable<T>::~GpuWorkTable() = default;

template <class T>
template <class Kernel>
void GpuWorkTable<T>::add(const Kernel& kernel, double bytes, double flops) {
  rows_.push_back({kernel_name(typeid(Kernel)), bytes, flops,
                   [&backend = backend_, kernel] { backend.run(kernel); }});
}

template <class T>
void GpuWorkTable<T>::add_elementwise() {
  T *a = memory_->at(0), *b = memory_->at(1), *c = memory_->at(2), *d = memory_->at(3);
  const unsigned* words = memory_->words.data();
  const double n = sizeof(T) * static_cast<double>(count_);
  const double of_words = kWord * count_;
  add(AddInto<T>{a, b, count_}, 3 * n);
  add(AddQuotient<T>{a, b, count_, T(3)}, 3 * n);
  add(Copy<T>{a, b, count_}, 2 * n);
  add(Divide<T>{a, count_, T(3)}, 2 * n);
  add(Dropout<T>{a, words, b, count_, {}}, 2 * n + of_words);
  add(ResidualDropout<T>{a, b, words, c, count_, {}}, 3 * n + of_words);
  add(GeluForward<T>{a, b, count_}, 2 * n);
  add(GeluBackward<T>{a, b, c, count_}, 3 * n);
  add(SwigluForward<T>{a, b, c, count_}, 3 * n);
  add(SwigluBackward<T>{a, b, c, d, memory_->at(4), count_}, 5 * n);
}

template <class T>
void GpuWorkTable<T>::add_rounding() {
  T *a = memory_->at(0), *b = memory_->at(1);
  auto* narrow = reinterpret_cast<Bfloat16*>(b);
  const double n = count_;
  add(RoundedCopy<T>{a, b, count_}, 2 * n * sizeof(T));
  add(RoundToBfloat16<T>{a, narrow, count_}, n * (sizeof(T) + kShort));
  add(WidenBfloat16<T>{narrow, a, count_}, n * (sizeof(T) + kShort));
}

template <class T>
void GpuWorkTable<T>::add_norms() {
  T *a = memory_->at(0), *b = memory_->at(1), *c = memory_->at(2);
  T *mean = memory_->at(5), *inverse = memory_->at(6), *weight = memory_->at(7);
  T* const sums = memory_->at(3);
  const int rows = sizes_.rows, width = sizes_.width;
  const double n = sizeof(T) * static_cast<double>(count_);
  add(LayerNormForward<T>{a, weight, weight, b, mean, inverse, rows, width, T(1e-5)}, 2 * n);
  add(LayerNormBackward<T>{a, weight, mean, inverse, b, c, rows, width}, 3 * n);
  add(LayerNormParameterGrad<T>{a, mean, inverse, b, sums, sums + width, rows, width}, 2 * n);
  add(RmsNormForward<T>{a, weight, b, inverse, rows, width, T(1e-5)}, 2 * n);
  add(RmsNormBackward<T>{a, weight, inverse, b, c, rows, width}, 3 * n);
  add(RmsNormParameterGrad<T>{a, inverse, b, sums, rows, width}, 2 * n);
}

template <class T>
void GpuWorkTable<T>::add_rows_of_tokens() {
  T *a = memory_->at(0), *b = memory_->at(1), *vector = memory_->at(7);
  const int* tokens = memory_->tokens.data();
  const int rows = sizes_.rows, width = sizes_.width;
  // A table has as many rows as fit where a tensor lies.
  const int owned = std::min(sizes_.vocabulary, rows);
  const int pairs = sizes_.head_dim / 2;
  const double n = sizeof(T) * static_cast<double>(count_);
  const double positions = sizeof(T) * static_cast<double>(sizes_.sequence) * width;
  add(AddBias<T>{a, vector, rows, width}, 2 * n);
  add(ColumnSum<T>{a, vector, rows, width}, n);
  add(EmbeddingGather<T>{a, tokens, b, rows, width, 0, owned}, 2 * n);
  add(EmbeddingScatter<T>{a, tokens, b, rows, width, 0, owned}, 3 * n);
  add(AddPositions<T>{a, b, rows, width, sizes_.sequence, 0}, 2 * n + positions);
  add(PositionGrad<T>{a, b, rows, width, sizes_.sequence}, n + positions);
  add(RotaryTurn<T>{a, b, b, rows, width / sizes_.head_dim, 2 * pairs, sizes_.sequence, T(1)},
      2 * n);
}

// A query sees half of the keys: a product of all queries with all keys is S^2 d operations.
template <class T>
void GpuWorkTable<T>::add_attention() {
  const auto at = [this](std::size_t place) { return memory_->at(place); };
  const unsigned* words = memory_->words.data();
  const int features = sizes_.samples * sizes_.sequence * sizes_.heads * sizes_.head_dim;
  const AttentionShape shape{sizes_.samples, sizes_.heads, sizes_.heads, sizes_.sequence,
                             sizes_.head_dim};
  T *q = at(0), *k = q + features, *v = k + features, *context = v + features;
  T *grad_context = at(1), *grad_q = grad_context + features, *grad_k = grad_q + features,
    *grad_v = grad_k + features;
  const double f = sizeof(T) * static_cast<double>(features);
  const double p = probabilities(sizes_);
  const double product = p * sizes_.head_dim;
  add(AttentionForward<T>{q, k, v, at(7), words, at(2), at(6), context, shape, 0.125, {}},
      4 * f + p * (sizeof(T) + kWord), 2 * product);
  add(AttentionProbsGrad<T>{v, grad_context, words, at(3), shape, {}},
      2 * f + p * (sizeof(T) + kWord), product);
  add(AttentionBackward<T>{q,
                           k,
                           at(2),
                           context,
                           grad_context,
                           words,
                           at(3),
                           grad_q,
                           grad_k,
                           grad_v,
                           shape,
                           0.125,
                           {}},
      7 * f + p * (3 * sizeof(T) + kWord), 3 * product);
  add(AttentionSinkGrad<T>{at(6), context, grad_context, at(7), shape}, 2 * f);
}

template <class T>
void GpuWorkTable<T>::add_vocabulary() {
  T *logits = memory_->at(0), *grad = memory_->at(1);
  T *row_max = memory_->at(5), *sums = memory_->at(6), *weights = memory_->at(7);
  T *target = memory_->at(2), *plain = memory_->at(3), *loss = memory_->at(4);
  const int* labels = memory_->tokens.data();
  const int rows = std::min(sizes_.rows, count_ / sizes_.vocabulary);
  const VocabularySlice slice{0, sizes_.vocabulary, sizes_.vocabulary, sizes_.vocabulary};
  const double n = sizeof(T) * static_cast<double>(rows) * sizes_.vocabulary;
  add(LogitMax<T>{logits, row_max, rows, slice}, n);
  add(LogitSums<T>{logits, row_max, labels, target, sums, plain, rows, slice}, n);
  add(TokenLoss<T>{target, sums, plain, weights, loss, rows, sizes_.vocabulary, 0.1},
      5.0 * sizeof(T) * rows);
  add(LogitGrad<T>{logits, row_max, sums, labels, weights, grad, rows, slice, 0.1}, 2 * n);
}

template <class T>
void GpuWorkTable<T>::add_updates() {
  T *theta = memory_->at(0), *grad = memory_->at(1), *m = memory_->at(2), *v = memory_->at(3);
  const double n = sizeof(T) * static_cast<double>(count_);
  add(AdamW<T>{theta, grad, m, v, count_, true, 1, T(1e-3), T(0.9), T(0.999), T(1e-8), T(0.01),
               T(0.1), T(0.001)},
      7 * n);
  add(Sgd<T>{theta, grad, count_, 1, T(0.1)}, 3 * n);
  add(Momentum<T>{theta, grad, m, count_, 1, T(0.1), T(0.9)}, 5 * n);
}

template <class T>
void GpuWorkTable<T>::add_masters() {
  double* theta = memory_->masters[0].data();
  double* m = memory_->masters[1].data();
  double* v = memory_->masters[2].data();
  T *grad = memory_->at(0), *copy = memory_->at(1);
  const double wide = kWide * count_;
  const double n = sizeof(T) * static_cast<double>(count_);
  add(MasterAdamW<T>{{theta, nullptr, m, v, count_, true, 1, 1e-3, 0.9, 0.999, 1e-8, 0.01, 0.1,
                      0.001},
                     grad,
                     copy},
      6 * wide + 2 * n);
  add(MasterSgd<T>{{theta, nullptr, count_, 1, 0.1}, grad, copy}, 2 * wide + 2 * n);
  add(MasterMomentum<T>{{theta, nullptr, m, count_, 1, 0.1, 0.9}, grad, copy}, 4 * wide + 2 * n);
}

template <class T>
GpuWork product_work(Backend<T>& backend, int rows, int depth, int columns) {
  struct Operands {
    Buffer<T> a, b, out;
  };
  const auto area = [](int x, int y) { return std::int64_t{x} * y; };
  const auto buffer = [&](int x, int y) {
    return Buffer<T>(backend, MemoryTag::buffer, area(x, y));
  };
  const auto held = std::make_shared<Operands>(
      Operands{buffer(rows, depth), buffer(depth, columns), buffer(rows, columns)});
  const Matmul<T> product{held->a.data(),   depth, 1,       held->b.data(), columns, 1,
                          held->out.data(), rows,  columns, depth};
  const auto elements =
      static_cast<double>(area(rows, depth) + area(depth, columns) + area(rows, columns));
  return {kernel_name(typeid(Matmul<T>)), sizeof(T) * elements,
          2.0 * static_cast<double>(area(rows, depth)) * columns,
          [&backend, product, held] { backend.run(product); }};
}

template class GpuWorkTable<double>;
template class GpuWorkTable<float>;
template GpuWork product_work(Backend<double>&, int, int, int);
template GpuWork product_work(Backend<float>&, int, int, int);

}  // namespace meshparity
