#include "parallel_impl/model/vocab_cross_entropy.hpp"

#include "parallel_impl/model/linear.hpp"
#include "parallel_impl/model/stream.hpp"

namespace meshparity {

template <class T>
VocabCrossEntropy<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags, int columns)
    : logits(parts.backend, tags.until_weight_grad, parts.extent.rows * columns),
      row_max(parts.backend, tags.until_input_grad, parts.extent.rows),
      target(parts.backend, tags.until_input_grad, parts.extent.rows),
      sums(parts.backend, tags.until_input_grad, 2 * parts.extent.rows),
      loss(parts.backend, tags.until_input_grad, parts.extent.rows) {}

template <class T>
void VocabCrossEntropy<T>::Saved::release_for_weights() {
  for (Buffer<T>* buffer : {&row_max, &target, &sums, &loss}) {
    buffer->reset();
  }
}

template <class T>
VocabCrossEntropy<T>::VocabCrossEntropy(RankParts<T>& parts, Param<T>& head, double smoothing)
    : parts_(parts), head_(head), smoothing_(smoothing) {
  slice_.width = head.slice.rows;
  slice_.first = head.slice.rows * parts.tp.index;
  slice_.logical = static_cast<int>(head.slice.box.extent[0]);
  slice_.global = parts.model.vocabulary;
}

template <class T>
std::span<T> VocabCrossEntropy<T>::summed(Saved& saved) const {
  const std::int64_t rows = saved.row_max.count();
  return {saved.sums.data(), static_cast<std::size_t>(smoothing_ > 0 ? 2 * rows : rows)};
}

template <class T>
void VocabCrossEntropy<T>::forward(const MicroBatch<T>& batch, const Tensor<T>& normed,
                                   Saved& saved) const {
  saved.x = normed;
  const Tensor<T> x =
      all_rows(parts_, normed, parts_.work.gathered, site_in(batch.place(), -1, "head", "forward"));
  Tensor<T> logits = matrix_in(saved.logits, x.rows, shard(1));
  parts_.backend.run(product_with_transposed(x, head_.value, logits));
  parts_.pass_on(logits);
  parts_.records.vocabulary(Phase::forward, "logits", logits, slice_);

  Tensor<T> top = matrix_in(saved.row_max, x.rows, part());
  parts_.backend.run(LogitMax<T>{logits.data, top.data, x.rows, slice_});
  parts_.comm.all_reduce(parts_.tp, top.span(), ReduceOp::max,
                         site_in(batch.place(), -1, "loss.max", "forward"));
  losses(batch, saved);
}

template <class T>
void VocabCrossEntropy<T>::losses(const MicroBatch<T>& batch, Saved& saved) const {
  const BatchPlace& place = batch.place();
  const int rows = place.rows();
  T* plain = saved.sums.data() + rows;
  VocabularySlice normalised = slice_;
  if (parts_.faults.fires("padding_in_normaliser")) {
    normalised.logical = slice_.width;
  }
  const bool local = parts_.faults.fires("smoothing_over_local_vocabulary");
  const int vocabulary = local ? slice_.logical : slice_.global;
  Tensor<T> target = matrix_in(saved.target, rows, part());
  parts_.backend.run(LogitSums<T>{saved.logits.data(), saved.row_max.data(), batch.labels(),
                                  target.data, saved.sums.data(), plain, rows, normalised});
  sum_over_tp(parts_, target, site_in(place, -1, "loss.target", "forward"));
  parts_.comm.all_reduce(parts_.tp, summed(saved), ReduceOp::sum,
                         site_in(place, -1, "loss.sum", "forward"));
  const Tensor<T> loss = matrix_in(saved.loss, rows, rep());
  parts_.backend.run(TokenLoss<T>{target.data, saved.sums.data(), plain, batch.weights(), loss.data,
                                  rows, vocabulary, smoothing_});
  parts_.records.tokens(Phase::loss, "loss.token", loss);
}

template <class T>
void VocabCrossEntropy<T>::backward(const MicroBatch<T>& batch, Tensor<T>& grad_x,
                                    Saved& saved) const {
  const Tensor<T> grad = matrix_in(saved.logits, parts_.extent.rows, shard(1));
  parts_.backend.run(LogitGrad<T>{grad.data, saved.row_max.data(), saved.sums.data(),
                                  batch.labels(), batch.seeds(), grad.data, grad.rows, slice_,
                                  smoothing_});
  parts_.pass_on(grad);
  parts_.records.vocabulary(Phase::backward, "logits", grad, slice_);
  if (!parts_.splits_backward) {
    weight_backward(batch.place(), saved);
  }
  Tensor<T> share = before_sum(parts_, grad_x);
  parts_.backend.run(product(grad, head_.value, share));
  sum_into_stream(parts_, share, grad_x, site_in(batch.place(), -1, "head", "backward"));
}

template <class T>
void VocabCrossEntropy<T>::weight_backward(const BatchPlace& place, Saved& saved) const {
  const Tensor<T> grad = matrix_in(saved.logits, parts_.extent.rows, shard(1));
  const Tensor<T> x =
      all_rows(parts_, saved.x, parts_.work.gathered, site_in(place, -1, "head.input", "backward"));
  parts_.backend.run(transposed_product(grad, x, parts_.work.param_grad.data()));
  add_param_grad(parts_, head_);
}

template class VocabCrossEntropy<double>;
template class VocabCrossEntropy<float>;

}  // namespace meshparity
