#include "parallel_impl/model/keep_words.hpp"

#include <cmath>

namespace meshparity {

KeepWords::KeepWords(const CaseSpec& spec, const ModelSpec& model)
    : enabled_(spec.dropout),
      seed_(spec.seed),
      probability_(model.dropout),
      threshold_(static_cast<unsigned>(std::floor(model.dropout * 4294967296.0))),
      hidden_(model.hidden),
      heads_(model.heads) {}

WordBuffer KeepWords::buffer(Memory& memory, std::int64_t count) const {
  return enabled_ ? WordBuffer(memory, count) : WordBuffer();
}

WordStream KeepWords::stream(WordOp op, int layer, int step) const {
  return {seed_, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(layer), op};
}

void KeepWords::fill_hidden(WordOp op, int layer, const BatchPlace& place, RowRange rows,
                            WordBuffer& out) {
  if (!enabled_) {
    return;
  }
  const auto first = static_cast<std::uint64_t>(place.first_sample) * place.sequence + rows.first;
  host_.resize(static_cast<std::size_t>(rows.count) * hidden_);
  stream(op, layer, place.step).fill(first * hidden_, host_);
  out.words_.upload(host_);
}

void KeepWords::fill_attention(int layer, const BatchPlace& place, Heads heads, WordBuffer& out) {
  if (!enabled_) {
    return;
  }
  const std::size_t square = static_cast<std::size_t>(place.sequence) * place.sequence;
  const std::size_t sample_words = square * heads.count;
  host_.resize(sample_words * place.samples);
  const WordStream words = stream(WordOp::attention_dropout, layer, place.step);
  for (std::size_t j = 0; j < static_cast<std::size_t>(place.samples); ++j) {
    const std::uint64_t first = (place.first_sample + j) * heads_ + heads.first;
    words.fill(first * square, std::span(host_).subspan(j * sample_words, sample_words));
  }
  out.words_.upload(host_);
}

}  // namespace meshparity
