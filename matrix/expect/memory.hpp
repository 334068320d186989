// How much memory a rank needs, by matrix's own formulas (algorithms.md §11.2): parameters with
// their padding, gradients, moments, and the list of tensors that a forward pass leaves for its
// backward pass.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Tags of a ledger whose bytes are due to the last one. Buffers, room for work that outlives no
/// layer, are left to the candidate.
inline constexpr std::array<std::string_view, 5> kDueTags = {"parameter", "gradient", "optimizer",
                                                             "activation_B", "activation_W"};

/// Bytes by tag, in the order of kDueTags.
struct RankMemory {
  std::array<std::int64_t, kDueTags.size()> bytes{};

  std::int64_t of(std::string_view tag) const;
  std::int64_t total() const;
  bool operator==(const RankMemory&) const = default;
};

/// A tensor that stays between the forward and the backward pass of a micro-batch. activation_B is
/// kept until the gradient of a layer's input is known, activation_W until that of its weights is.
struct SavedTensor {
  std::string name;  // of a layer: "attn.probs"; "embed.words"
  std::string_view tag;
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
  std::int64_t times = 1;  // layers that have one

  std::int64_t bytes() const { return elements * element_bytes * times; }
};

/// The variant counted (algorithms.md §11.2 leaves a choice): probabilities of attention are kept,
/// dropout keeps its random words of 32 bits and not what they decide, with sequence parallelism
/// the stream is kept as the rank's own rows and gathered again in the backward pass, GELU and
/// SwiGLU keep their input and output, and one micro-batch is in flight.
std::vector<SavedTensor> saved_tensors(const Layout& layout, int rank);

/// Of the whole run: nothing of it is allocated later or given back sooner. Moments are one a
/// parameter for momentum, two for adamw; a tied head shares value and moments but no gradient.
RankMemory memory_of(const Layout& layout, int rank);

}  // namespace meshparity::expect
