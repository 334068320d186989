// The random words of dropout: by global sample, position, head and feature, so that no layout
// changes which elements are kept (algorithms.md §10.3).
#pragma once
#include <cstdint>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/random_words.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/model/micro_batch.hpp"
#include "parallel_impl/model/placement.hpp"

namespace meshparity {

/// Words for the elements of an activation, in its layout; null without dropout.
class WordBuffer {
 public:
  WordBuffer() = default;
  WordBuffer(Memory& memory, MemoryTag tag, std::int64_t count) : words_(memory, tag, count) {}
  void reset() { words_.reset(); }
  const unsigned* get() const { return words_.data(); }

 private:
  friend class KeepWords;
  Buffer<unsigned> words_;
};

class KeepWords {
 public:
  /// `faults` outlives it; null in unit tests.
  KeepWords(const CaseSpec& spec, const ModelSpec& model, FaultPlan* faults = nullptr);

  /// Room for the words of `count` elements; none when the case has no dropout.
  WordBuffer buffer(Memory& memory, MemoryTag tag, std::int64_t count) const;
  /// Elements (sample*S + position)*h + feature of these rows of the micro-batch.
  void fill_hidden(WordOp op, int layer, const BatchPlace& place, RowRange rows, WordBuffer& out);
  /// Elements ((sample*a + head)*S + query)*S + key, heads [first_head, first_head + heads).
  struct Heads {
    int first = 0;
    int count = 0;
  };
  void fill_attention(int layer, const BatchPlace& place, Heads heads, WordBuffer& out);

  bool drops() const { return enabled_; }
  template <class T>
  DropoutRule<T> rule() const {
    return {threshold_, fires("dropout_not_rescaled") ? 1.0 : 1.0 - probability_};
  }

 private:
  WordStream stream(WordOp op, int layer, int batch) const;
  bool fires(std::string_view fault) const { return faults_ != nullptr && faults_->fires(fault); }
  /// The place that words are drawn for: `place`, unless a planted fault takes another.
  BatchPlace drawn_for(const BatchPlace& place) const;

  bool enabled_;
  std::uint64_t seed_;
  double probability_;
  unsigned threshold_;
  int hidden_;
  int heads_;
  int micro_batches_;
  FaultPlan* faults_;
  std::vector<unsigned> host_;
};

}  // namespace meshparity
