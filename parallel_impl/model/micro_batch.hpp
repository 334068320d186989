// One micro-batch on one rank: which samples of the step's batch, their tokens, labels and weights.
#pragma once
#include <cstdint>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/raw_inputs.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/mesh/mesh.hpp"

namespace meshparity {

/// Samples [first_sample, first_sample + samples) of a step; a row a token.
struct BatchPlace {
  int step = 0;
  int mb = 0;  // of the step
  int first_sample = 0;
  int samples = 0;
  int sequence = 0;
  /// Raw inputs and random words are those of a batch, which may be several steps long.
  int batch = 0;
  int first_in_batch = 0;
  int rows() const { return samples * sequence; }
  bool operator==(const BatchPlace&) const = default;
};

/// Sample index = (dp coordinate * micro-batches + micro-batch) * b + j, b = batch / (dp * mb);
/// where each micro-batch is a step (fixtures/step_place.hpp), in the step dp coordinate * b + j.
BatchPlace batch_place(const ModelSpec& model, const CaseSpec& spec, const Mesh& mesh, int step,
                       int mb);

template <class T>
class MicroBatch {
 public:
  MicroBatch(int rows, Memory& memory);

  /// label(p) = token(p + 1); weight = p < length and mask bit; seed = weight * loss seed * scale.
  /// A planted fault takes the last sample as if it were of full length.
  void load(const RawInputs& inputs, const BatchPlace& place, double loss_scale = 1,
            bool forgets_last_length = false);

  const BatchPlace& place() const { return place_; }
  const int* tokens() const { return tokens_.data(); }
  const int* labels() const { return labels_.data(); }
  const T* weights() const { return weights_.data(); }
  /// What the backward pass starts from in the place of the weights.
  const T* seeds() const { return seeds_.data(); }
  /// Tokens of weight one.
  std::int64_t counted() const { return counted_; }

 private:
  BatchPlace place_;
  Buffer<int> tokens_, labels_;
  Buffer<T> weights_, seeds_;
  std::vector<int> host_tokens_, host_labels_;
  std::vector<T> host_weights_, host_seeds_;
  std::int64_t counted_ = 0;
};

}  // namespace meshparity
