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

/// A tensor that a chunk of the model keeps for a micro-batch. activation_B is kept until the
/// gradient of the chunk's input is known, activation_W until those of its weights are.
struct SavedTensor {
  std::string name;  // of a layer: "attn.probs"; "embed.words"
  std::string_view tag;
  std::int64_t elements = 0;
  std::int64_t element_bytes = 0;
  std::int64_t times = 1;  // layers that have one
  int chunk = 0;
  bool in_backward = false;  // allocated there, else when the forward pass begins

  std::int64_t bytes() const { return elements * element_bytes * times; }
};

/// The variant counted (algorithms.md §11.2 leaves a choice): a stage keeps what it received from
/// the one before; probabilities of attention are kept, but for selective recomputation; full
/// recomputation keeps each block's input alone; dropout keeps its random words of 32 bits and not
/// what they decide; with sequence parallelism the stream is kept as the rank's own rows and
/// gathered again in the backward pass; GELU and SwiGLU keep their input and output; the gradient
/// of the logits takes their place. Where schedules split the backward pass, the gradients of what
/// linears put out are kept from B to W, those of the stream with all rows, and so are the inputs
/// that full recomputation made again. What a micro-batch is given (tokens, labels, weights) is
/// read again when it is needed.
std::vector<SavedTensor> saved_tensors(const Layout& layout, int rank);

/// The most that is held at one time. Parameters, gradients and optimizer state are there from the
/// first step to the last, of activations as much as the order of the rank's actions has in flight
/// and nothing in the end. Buckets are held with their padding; a shard where ZeRO cuts it, other
/// values and gradients being buffers. Moments are one a parameter for momentum, two for adamw,
/// beside a master where there is one; a tied head beside the embedding shares value and state but
/// no gradient. Where no flush parts the steps, a stage holds older versions of its values too,
/// each until the last pass that reads it.
RankMemory memory_of(const Layout& layout, int rank);

/// The bytes of a tag that are still there after the last step.
std::int64_t left_of(std::string_view tag, const Layout& layout, int rank);

}  // namespace meshparity::expect
