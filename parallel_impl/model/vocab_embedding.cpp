#include "parallel_impl/model/vocab_embedding.hpp"

namespace meshparity {

template <class T>
VocabEmbedding<T>::Saved::Saved(const RankParts<T>& parts)
    : out(parts.backend, MemoryTag::activation_B, parts.extent.rows * parts.model.hidden),
      words(parts.words.buffer(parts.backend, out.count())) {}

template <class T>
VocabEmbedding<T>::VocabEmbedding(RankParts<T>& parts, Param<T>& table, Param<T>& positions)
    : parts_(parts), table_(table), positions_(positions) {}

template <class T>
Tensor<T> VocabEmbedding<T>::forward(const MicroBatch<T>& batch, Saved& saved) const {
  const BatchPlace& place = batch.place();
  Tensor<T> out = matrix_in(saved.out, place.rows(), part());
  parts_.backend.run(EmbeddingGather<T>{table_.value, batch.tokens(), out.data, out.rows,
                                        out.columns, first_owned(), table_.slice.rows});
  sum_over_tp(parts_, out, site_in(place, -1, "embed", "forward"));
  parts_.records.features(Phase::forward, "embed.token", out);
  parts_.backend.run(
      AddPositions<T>{out.data, positions_.value, out.rows, out.columns, place.sequence});
  parts_.records.features(Phase::forward, "embed.sum", out);
  parts_.words.fill_hidden(WordOp::embedding_dropout, 0, place, saved.words);
  parts_.backend.run(Dropout<T>{out.data, saved.words.get(), out.data, out.count(),
                                parts_.words.template rule<T>()});
  return out;
}

template <class T>
void VocabEmbedding<T>::backward(const MicroBatch<T>& batch, Tensor<T>& grad,
                                 const Saved& saved) const {
  grad.demand(rep());
  parts_.backend.run(Dropout<T>{grad.data, saved.words.get(), grad.data, grad.count(),
                                parts_.words.template rule<T>()});
  parts_.records.features(Phase::backward, "embed.sum", grad);
  parts_.records.features(Phase::backward, "embed.token", grad);
  Buffer<T>& sum = parts_.work.param_grad;
  parts_.backend.run(
      PositionGrad<T>{grad.data, sum.data(), grad.rows, grad.columns, batch.place().sequence});
  add_param_grad(parts_, positions_);
  sum.clear();
  parts_.backend.run(EmbeddingScatter<T>{grad.data, batch.tokens(), sum.data(), grad.rows,
                                         grad.columns, first_owned(), table_.slice.rows});
  add_param_grad(parts_, table_);
}

template class VocabEmbedding<double>;
template class VocabEmbedding<float>;

}  // namespace meshparity
