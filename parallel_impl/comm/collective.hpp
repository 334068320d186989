// What one collective is: its site, its group, its buffers. Data only; comm.hpp carries it out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/element_type.hpp"
#include "parallel_impl/kernels/bfloat16_words.cuh"

namespace meshparity {

/// Where in the program a call stands: layer (-1 outside the blocks), role ("mlp.down",
/// "loss.max", "grad.dp"), phase ("forward", "backward", "grad", "scalar"), step, micro-batch.
struct Site {
  int layer = -1;
  std::string role;
  std::string phase;
  int step = 0;
  int mb = 0;
};
/// "layer1.mlp.down/forward"
std::string format_site(const Site& site);

/// The ranks of a call in canonical coordinate order (dp, cp, then the rest), and this rank's
/// place.
struct CommGroup {
  std::string axis;  // "tp", "dp", "dp,cp"
  std::vector<int> ranks;
  int index = 0;
  int size() const { return static_cast<int>(ranks.size()); }
};
/// "0 1"
std::string format_ranks(const CommGroup& group);

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send,
  receive,
  barrier
};
std::string_view collective_name(CollectiveKind kind);
enum class ReduceOp { sum, max };

/// Elements of one type in memory.
struct Payload {
  std::byte* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::float64;
};

/// One request. Sums run in canonical order, elementwise from the group's first rank to its last.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  CommGroup group;
  Payload input;   // all_reduce, broadcast: input == output; contents are not changed otherwise
  Payload output;  // overlaps input nowhere else, but for a rank's own part of an all_gather
  std::vector<std::int64_t> input_parts;   // all_to_all: elements for each rank of the group;
  std::vector<std::int64_t> output_parts;  // all_gather, reduce_scatter, all_to_all: elements of
                                           // each rank's part; zero-length parts are legal
  int peer = -1;                           // send, receive, broadcast root: index in the group
  ReduceOp op = ReduceOp::sum;
  /// Of a send: the sender's logical time, which travels with the message; of a receive: where it
  /// is put. Null: nobody asks.
  std::int64_t* clock = nullptr;
  ElementType accumulator = ElementType::float32;  // in which a sum of bfloat16 runs
  Site site;
};

/// Throws Error naming the site unless sizes, parts, peer and place fit together for this rank.
void require_well_formed(const Collective& request, int rank);
/// Of the buffer that this kind moves: the output of a receive, else the input.
ElementType moved_type(const Collective& request);
/// Elements of the whole call, equal on all its ranks (all_to_all: what this rank sends).
std::int64_t element_total(const Collective& request);
/// What the ledger says of the call; its sequence number and its times are still to be filled in.
CollectiveRow ledger_row(const Collective& request);
/// Sum of the parts before part `index`.
std::int64_t part_offset(const std::vector<std::int64_t>& parts, int index);
/// Where this rank's own contribution lies in the input and in the output; no bytes where both are
/// one buffer or nothing is its own.
struct OwnContribution {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t bytes = 0;
};
OwnContribution own_contribution(const Collective& request);
/// This rank's own contribution goes to its own place in the output; nothing else is moved.
void keep_own_contribution(const Collective& request);

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, double>) {
    return ElementType::float64;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::float32;
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return ElementType::bfloat16;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return ElementType::int64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return ElementType::int32;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "no element type for this");
    return ElementType::uint8;
  }
}

template <class T>
Payload payload_of(T* data, std::int64_t count) {
  return {reinterpret_cast<std::byte*>(data), count, element_type<T>()};
}

}  // namespace meshparity
