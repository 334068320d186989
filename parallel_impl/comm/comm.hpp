// Comm: how ranks talk. One request type, one seam; every call names its site, and the ledger and
// the progress board are written here, once, for every transport (contracts.md §7).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fixtures/board.hpp"
#include "fixtures/dump.hpp"

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
enum class ReduceOp { sum, max };

/// Elements of one type in memory.
struct Payload {
  std::byte* data = nullptr;
  std::int64_t count = 0;
  ElementType type = ElementType::float64;
};
std::size_t element_bytes(ElementType type);

/// One request. Sums run in canonical order, elementwise from the group's first rank to its last.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  CommGroup group;
  Payload input;  // all_reduce: input == output; contents are not changed otherwise
  Payload output;
  std::vector<std::int64_t> input_parts;   // all_to_all: elements for each rank of the group;
  std::vector<std::int64_t> output_parts;  // all_gather, reduce_scatter, all_to_all: elements of
                                           // each rank's part; zero-length parts are legal
  int peer = -1;                           // send, receive, broadcast root: index in the group
  ReduceOp op = ReduceOp::sum;
  Site site;
};

template <class T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, double>) {
    return ElementType::float64;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::float32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return ElementType::int64;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return ElementType::int32;
  } else {
    static_assert(std::is_same_v<T, std::uint8_t>, "no element type for this");
    return ElementType::uint8;
  }
}

/// An operation that has begun. Between start and wait its output may not be read and its input
/// may not be written.
struct Ticket {
  std::int64_t id = -1;
};

/// One rank's view of the transport. Transports implement transport_start and transport_wait; the
/// public calls add ledger and board around them. A group of one is done at once, unrecorded.
/// A rank that throws must call poison(): every peer's wait then throws an Error with that rank's
/// name within the time limit.
class Comm {
 public:
  virtual ~Comm() = default;

  virtual int rank() const = 0;
  virtual int world() const = 0;
  virtual void poison(const std::string& why) = 0;

  Ticket start(const Collective& request);
  void wait(Ticket ticket);

  template <class T>
  void all_reduce(const CommGroup& group, std::span<T> values, ReduceOp op, const Site& site) {
    Collective request = describe(CollectiveKind::all_reduce, group, site);
    request.input = request.output = payload(values);
    request.op = op;
    wait(start(request));
  }
  /// out is the concatenation of every rank's part, parts[r] elements from rank r of the group.
  template <class T>
  void all_gather(const CommGroup& group, std::span<const T> part, std::span<T> out,
                  std::vector<std::int64_t> parts, const Site& site) {
    Collective request = describe(CollectiveKind::all_gather, group, site);
    request.input = payload(part);
    request.output = payload(out);
    request.output_parts = std::move(parts);
    wait(start(request));
  }
  /// part r of the sum over the group of `values` lands in rank r's `out`.
  template <class T>
  void reduce_scatter(const CommGroup& group, std::span<const T> values, std::span<T> out,
                      std::vector<std::int64_t> parts, const Site& site) {
    Collective request = describe(CollectiveKind::reduce_scatter, group, site);
    request.input = payload(values);
    request.output = payload(out);
    request.output_parts = std::move(parts);
    wait(start(request));
  }
  void barrier(const CommGroup& group, const Site& site);

  /// What this rank has entered so far, for the dump's /ledger/collectives.
  const std::vector<CollectiveRow>& ledger() const { return ledger_; }
  void clear_ledger() { ledger_.clear(); }
  /// The board to write to; null writes none.
  void attach_board(BoardWriter* board) { board_ = board; }

 protected:
  virtual Ticket transport_start(const Collective& request) = 0;
  virtual void transport_wait(Ticket ticket) = 0;

 private:
  static Collective describe(CollectiveKind kind, const CommGroup& group, const Site& site);
  template <class T>
  static Payload payload(std::span<T> values) {
    using Value = std::remove_const_t<T>;
    return {reinterpret_cast<std::byte*>(const_cast<Value*>(values.data())),
            static_cast<std::int64_t>(values.size()), element_type<Value>()};
  }

  std::vector<CollectiveRow> ledger_;
  std::int64_t sequence_ = 0;
  std::int64_t logical_clock_ = 0;
  BoardWriter* board_ = nullptr;
};

}  // namespace meshparity
