#include "parallel_impl/model/keep_words.hpp"

#include <cmath>

namespace meshparity {

KeepWords::KeepWords(const CaseSpec& spec, const ModelSpec& model, FaultPlan* faults)
    : enabled_(spec.dropout),
      seed_(spec.seed),
      probability_(model.dropout),
      threshold_(static_cast<unsigned>(std::floor(model.dropout * 4294967296.0))),
      hidden_(model.hidden),
      heads_(model.heads),
      micro_batches_(spec.micro_batches),
      faults_(faults) {}

WordBuffer KeepWords::buffer(Memory& memory, MemoryTag tag, std::int64_t count) const {
  return enabled_ ? WordBuffer(memory, tag, count) : WordBuffer();
}

WordStream KeepWords::stream(WordOp op, int layer, int batch) const {
  return {seed_, static_cast<std::uint32_t>(batch), static_cast<std::uint32_t>(layer), op};
}

BatchPlace KeepWords::drawn_for(const BatchPlace& place) const {
  BatchPlace drawn = place;
  if (fires("dropout_of_local_samples")) {
    drawn.first_in_batch %= place.samples * micro_batches_;
  }
  if (fires("dropout_same_micro_batch")) {
    drawn.first_in_batch -= place.first_in_batch % (place.samples * micro_batches_);
  }
  if (fires("dropout_same_step")) {
    drawn.batch = 0;
  }
  return drawn;
}

void KeepWords::fill_hidden(WordOp op, int layer, const BatchPlace& real, RowRange rows,
                            WordBuffer& out) {
  if (!enabled_) {
    return;
  }
  const BatchPlace place = drawn_for(real);
  if (fires("dropout_of_local_rows")) {
    rows.first = 0;
  }
  const int extra = fires("extra_draw") ? 1 : 0;
  const auto first = static_cast<std::uint64_t>(place.first_in_batch) * place.sequence + rows.first;
  host_.resize(static_cast<std::size_t>(rows.count) * hidden_);
  stream(op, layer, place.batch).fill(first * hidden_ + extra, host_);
  out.words_.upload(host_);
}

void KeepWords::fill_attention(int layer, const BatchPlace& real, Heads heads, WordBuffer& out) {
  if (!enabled_) {
    return;
  }
  const BatchPlace place = drawn_for(real);
  if (fires("dropout_of_local_heads")) {
    heads.first = 0;
  }
  const std::size_t square = static_cast<std::size_t>(place.sequence) * place.sequence;
  const std::size_t sample_words = square * heads.count;
  host_.resize(sample_words * place.samples);
  const WordStream words = stream(WordOp::attention_dropout, layer, place.batch);
  for (std::size_t j = 0; j < static_cast<std::size_t>(place.samples); ++j) {
    const std::uint64_t first = (place.first_in_batch + j) * heads_ + heads.first;
    words.fill(first * square, std::span(host_).subspan(j * sample_words, sample_words));
  }
  out.words_.upload(host_);
}

}  // namespace meshparity
