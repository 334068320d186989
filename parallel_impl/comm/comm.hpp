// Comm: how ranks talk. One request type, one seam; every call names its site, and the ledger and
// the progress board are written here, once, for every transport (contracts.md §7).
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/board.hpp"
#include "fixtures/dump.hpp"
#include "parallel_impl/comm/collective.hpp"

namespace meshparity {

/// An operation that has begun. Between start and wait its output may not be read and its input
/// may not be written; pending_calls.hpp says when data move.
struct Ticket {
  std::int64_t id = -1;
};

/// One rank's view of the transport. Transports implement transport_start and transport_wait; the
/// public calls add ledger and board around them. A group of one is done at once, unrecorded.
/// A rank that throws must call poison(): every peer's wait then throws an Error with that rank's
/// name within the time limit.
class Comm {
 public:
  using Clock = std::chrono::steady_clock;

  /// Wall times of the ledger count from `launch`.
  explicit Comm(Clock::time_point launch = Clock::now()) : launch_(launch) {}
  virtual ~Comm() = default;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  /// Where wall times count from.
  Clock::time_point launch() const { return launch_; }
  virtual int rank() const = 0;
  virtual int world() const = 0;
  virtual void poison(const std::string& why) = 0;

  /// Throws Error when the request does not fit together or the transport refuses it.
  Ticket start(const Collective& request);
  void wait(Ticket ticket);
  /// Start and wait in one.
  void carry_out(const Collective& request);

  template <class T>
  void all_reduce(const CommGroup& group, std::span<T> values, ReduceOp op, const Site& site) {
    Collective request = describe(CollectiveKind::all_reduce, group, site);
    request.input = request.output = payload(values);
    request.op = op;
    carry_out(request);
  }
  /// out is the concatenation of every rank's part, parts[r] elements from rank r of the group.
  template <class T>
  void all_gather(const CommGroup& group, std::span<const T> part, std::span<T> out,
                  std::vector<std::int64_t> parts, const Site& site) {
    Collective request = describe(CollectiveKind::all_gather, group, site);
    request.input = payload(part);
    request.output = payload(out);
    request.output_parts = std::move(parts);
    carry_out(request);
  }
  /// part r of the sum over the group of `values` lands in rank r's `out`.
  template <class T>
  void reduce_scatter(const CommGroup& group, std::span<const T> values, std::span<T> out,
                      std::vector<std::int64_t> parts, const Site& site) {
    Collective request = describe(CollectiveKind::reduce_scatter, group, site);
    request.input = payload(values);
    request.output = payload(out);
    request.output_parts = std::move(parts);
    carry_out(request);
  }
  /// To the rank at index `peer` of the group; the transport keeps a copy, so this never waits.
  /// `clock` travels with it.
  template <class T>
  void send(const CommGroup& group, int peer, std::span<const T> values, std::int64_t clock,
            const Site& site) {
    Collective request = describe(CollectiveKind::send, group, site);
    request.peer = peer;
    request.input = payload(values);
    request.clock = &clock;
    carry_out(request);
  }
  /// The next message of that rank, which must be of this site and size; returns its clock.
  template <class T>
  std::int64_t receive(const CommGroup& group, int peer, std::span<T> values, const Site& site) {
    std::int64_t clock = 0;
    Collective request = describe(CollectiveKind::receive, group, site);
    request.peer = peer;
    request.output = payload(values);
    request.clock = &clock;
    carry_out(request);
    return clock;
  }
  void barrier(const CommGroup& group, const Site& site);

  /// What this rank has entered so far, for the dump's /ledger/collectives. `sequence` counts from
  /// 1, as on the board.
  const std::vector<CollectiveRow>& ledger() const { return ledger_; }
  void clear_ledger();
  /// The board to write to; null writes none.
  void attach_board(BoardWriter* board) { board_ = board; }

 protected:
  /// `row` is the request's line in the ledger, for messages; it lives as long as the call.
  virtual Ticket transport_start(const Collective& request, const CollectiveRow& row) = 0;
  virtual void transport_wait(Ticket ticket) = 0;
  /// Start and wait in one.
  virtual void transport_at_once(const Collective& request, const CollectiveRow& row) {
    transport_wait(transport_start(request, row));
  }

  /// A call in a group of one: what keep_own_contribution does, wherever the buffers lie.
  virtual void keep_own(const Collective& request) { keep_own_contribution(request); }

 private:
  std::size_t enter(const Collective& request);
  void close(std::size_t place);
  static Collective describe(CollectiveKind kind, const CommGroup& group, const Site& site);
  CollectiveRow row_of(const Collective& request);
  std::int64_t nanoseconds() const;
  template <class T>
  static Payload payload(std::span<T> values) {
    using Value = std::remove_const_t<T>;
    return {reinterpret_cast<std::byte*>(const_cast<Value*>(values.data())),
            static_cast<std::int64_t>(values.size()), element_type<Value>()};
  }

  Clock::time_point launch_;
  std::vector<CollectiveRow> ledger_;
  std::map<std::int64_t, std::size_t> pending_;  // ticket -> place in the ledger
  std::int64_t sequence_ = 0;
  std::int64_t logical_clock_ = 0;
  BoardWriter* board_ = nullptr;
};

}  // namespace meshparity
