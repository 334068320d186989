#include "parallel_impl/model/vocab_embedding.hpp"

#include "parallel_impl/model/stream.hpp"

namespace meshparity {

template <class T>
VocabEmbedding<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags)
    : out(parts.backend, tags.until_input_grad, parts.stream_count()),
      words(parts.words.buffer(parts.backend, tags.until_input_grad, out.count())) {}

template <class T>
VocabEmbedding<T>::VocabEmbedding(RankParts<T>& parts, Param<T>& table, Param<T>* positions)
    : parts_(parts), table_(table), positions_(positions) {}

template <class T>
Tensor<T> VocabEmbedding<T>::forward(const MicroBatch<T>& batch, Saved& saved) const {
  const BatchPlace& place = batch.place();
  Tensor<T> out = matrix_in(saved.out, parts_.extent.stream.count, part());
  const Tensor<T> share = before_sum(parts_, out);
  parts_.backend.run(EmbeddingGather<T>{table_.value, batch.tokens(), share.data, share.rows,
                                        parts_.model.hidden, first_owned(), table_.slice.rows});
  sum_into_stream(parts_, share, out, site_in(place, -1, "embed", "forward"));
  parts_.records.features(Phase::forward, "embed.token", out);
  add_positions(out);
  parts_.words.fill_hidden(WordOp::embedding_dropout, 0, place, parts_.extent.stream, saved.words);
  parts_.backend.run(Dropout<T>{out.data, saved.words.get(), out.data, out.count(),
                                parts_.words.template rule<T>()});
  parts_.pass_on(out);
  return out;
}

template <class T>
void VocabEmbedding<T>::add_positions(Tensor<T>& out) const {
  if (positions_ != nullptr) {
    const bool local = parts_.faults.fires("positions_of_local_rows");
    parts_.backend.run(AddPositions<T>{out.data, positions_->value, out.rows, out.columns,
                                       parts_.model.sequence,
                                       local ? 0 : parts_.extent.stream.first});
    parts_.records.features(Phase::forward, "embed.sum", out);
  }
}

template <class T>
void VocabEmbedding<T>::backward(const MicroBatch<T>& batch, Tensor<T>& grad,
                                 const Saved& saved) const {
  grad.demand(parts_.stream());
  parts_.backend.run(Dropout<T>{grad.data, saved.words.get(), grad.data, grad.count(),
                                parts_.words.template rule<T>()});
  if (positions_ != nullptr) {
    parts_.records.features(Phase::backward, "embed.sum", grad);
  }
  parts_.records.features(Phase::backward, "embed.token", grad);
  tables_backward(batch, all_rows(parts_, grad, parts_.work.gathered_grad,
                                  site_in(batch.place(), -1, "embed", "backward")));
}

/// From all rows on every rank: the gradient of positions is whole, not a share to be summed.
template <class T>
void VocabEmbedding<T>::tables_backward(const MicroBatch<T>& batch, const Tensor<T>& grad) const {
  Buffer<T>& sum = parts_.work.param_grad;
  if (positions_ != nullptr) {
    parts_.backend.run(
        PositionGrad<T>{grad.data, sum.data(), grad.rows, grad.columns, batch.place().sequence});
    add_param_grad(parts_, *positions_);
  }
  sum.clear();
  parts_.backend.run(EmbeddingScatter<T>{grad.data, batch.tokens(), sum.data(), grad.rows,
                                         grad.columns, first_owned(), table_.slice.rows});
  add_param_grad(parts_, table_);
}

template class VocabEmbedding<double>;
template class VocabEmbedding<float>;

}  // namespace meshparity
