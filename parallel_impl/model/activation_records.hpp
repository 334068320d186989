// Records of one micro-batch's activations and their gradients: what a rank holds becomes a piece
// with its place in the step's global tensor.
#pragma once
#include <string>
#include <vector>

#include "fixtures/model_spec.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/micro_batch.hpp"
#include "parallel_impl/model/placement.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// Rows of a micro-batch, row-major over (sample, position), as boxes of a record [B, S, ...]: the
/// rest of a sample, whole samples, the beginning of one. `of_a_row` is the place in the dims that
/// follow.
std::vector<Box> row_boxes(const BatchPlace& place, RowRange rows, const Box& of_a_row);

template <class T>
class ActivationRecords {
 public:
  ActivationRecords(const ModelSpec& model, const Mesh& mesh, Recorder& recorder, Memory& memory);

  /// What follows belongs to this micro-batch.
  void begin(const BatchPlace& place) { place_ = place; }

  /// Gradients are recorded free of the loss scale, and not at all in a step that is skipped.
  void set_loss_scale(double scale, bool is_skipped) {
    loss_scale_ = scale;
    is_skipped_ = is_skipped;
  }
  /// A pass that repeats another one leaves no records.
  void set_silent(bool silent) { is_silent_ = silent; }
  bool wants(Phase phase, const std::string& name) const {
    return !is_silent_ && !(is_skipped_ && phase == Phase::backward) &&
           recorder_.wants(phase, name);
  }

  /// [B, S, width]: whole (Rep), this rank's rows (Shard(0)) or its features (Shard(1)).
  void features(Phase phase, const std::string& name, const Tensor<T>& values);
  /// [B, S, heads, head_dim]: this rank's heads.
  void heads(Phase phase, const std::string& name, const Tensor<T>& values);
  /// [B, S, kv_heads, head_dim]: this rank's key or value heads. Where `copies` ranks hold the
  /// same, each gives its share of the rows, so that a record holds every element once.
  void kv_heads(Phase phase, const std::string& name, const Tensor<T>& values, int copies);
  /// [B, heads, S, S]: this rank's heads; rows are (sample, head, query).
  void scores(Phase phase, const std::string& name, const Tensor<T>& values);
  /// [B, S, vocabulary]: this rank's columns without padding.
  void vocabulary(Phase phase, const std::string& name, const Tensor<T>& values,
                  const VocabularySlice& slice);
  /// [B, S]: one number a token.
  void tokens(Phase phase, const std::string& name, const Tensor<T>& values);
  /// At level all: what this rank puts into a sum, under
  /// /local/step<s>/<role>/contribution/layer<l>/mb<m>.
  void contribution(const std::string& role, int layer, const Tensor<T>& values);

 private:
  void piece(Phase phase, const std::string& name, Box box, const Tensor<T>& values);
  void rows_piece(Phase phase, const std::string& name, RowRange rows, const Box& of_a_row,
                  std::span<const T> values);
  std::span<const T> on_host(Phase phase, const Tensor<T>& values);

  const ModelSpec& model_;
  const Mesh& mesh_;
  Recorder& recorder_;
  Memory& memory_;
  BatchPlace place_;
  double loss_scale_ = 1;
  bool is_skipped_ = false;
  bool is_silent_ = false;
  std::vector<T> host_;
};

}  // namespace meshparity
