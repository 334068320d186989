#include "parallel_impl/comm/process_messages.hpp"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/call_agreement.hpp"
#include "parallel_impl/comm/packed_call.hpp"
#include "parallel_impl/comm/process_wait.hpp"

namespace meshparity {
namespace {

/// Before each message in an outbox; its packed call follows, then its values.
struct MessageHead {
  std::uint64_t packed_bytes = 0;
  std::uint64_t value_bytes = 0;
};

std::size_t rounded_up(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int peer_of(const Collective& request) {
  return request.group.ranks[static_cast<std::size_t>(request.peer)];
}

void copy_bytes(std::byte* to, const void* from, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

void ProcessMessages::put(const Collective& request, const CollectiveRow& row) {
  if (world_.state().failed()) {
    world_.state().throw_peer_failed(row, rank_);
  }
  ProcessPair& pair = world_.pair(rank_, peer_of(request));
  const std::vector<std::byte> packed = pack_call(request, row);
  const MessageHead head{packed.size(), static_cast<std::uint64_t>(row.bytes)};
  used_ = all_taken() ? 0 : used_;
  const std::size_t size = rounded_up(sizeof head + head.packed_bytes + head.value_bytes);
  const std::uint64_t number = pair.sent.load();
  if (size > ProcessWorld::kAreaBytes - used_ || number - pair.taken.load() == ProcessPair::kMost) {
    fail_and_throw(fmt::format("{} sends {}: {} messages to {} are not taken yet, {} bytes in all",
                               world_.state().name(rank_), describe_call(row),
                               number - pair.taken.load(), world_.state().name(peer_of(request)),
                               used_));
  }
  std::byte* const place = world_.outbox(rank_) + used_;
  copy_bytes(place, &head, sizeof head);
  copy_bytes(place + sizeof head, packed.data(), packed.size());
  copy_bytes(place + sizeof head + packed.size(), request.input.data, head.value_bytes);
  pair.places[number % ProcessPair::kMost].store(used_);
  pair.sent.store(number + 1);
  used_ += size;
  world_.ring(peer_of(request));
}

bool ProcessMessages::all_taken() const {
  for (int to = 0; to < world_.size(); ++to) {
    const ProcessPair& pair = world_.pair(rank_, to);
    if (pair.sent.load() != pair.taken.load()) {
      return false;
    }
  }
  return true;
}

void ProcessMessages::take(const Collective& request, const CollectiveRow& row) {
  const int from = peer_of(request);
  await_message(from, row);
  ProcessPair& pair = world_.pair(from, rank_);
  const std::uint64_t number = pair.taken.load();
  const std::byte* const place =
      world_.outbox(from) + pair.places[number % ProcessPair::kMost].load();
  MessageHead head;
  std::memcpy(&head, place, sizeof head);
  const std::byte* const packed = place + sizeof head;
  const UnpackedCall sent = unpack_call({packed, head.packed_bytes});
  const std::string wrong =
      describe_wrong_message(world_.state(), {&request, &row}, {&sent.request, &sent.row});
  if (!wrong.empty()) {
    fail_and_throw(wrong);
  }
  copy_bytes(request.output.data, packed + head.packed_bytes, head.value_bytes);
  if (request.clock != nullptr) {
    *request.clock = sent.clock;
  }
  pair.taken.store(number + 1);
}

void ProcessMessages::await_message(int from, const CollectiveRow& row) const {
  const ProcessPair& pair = world_.pair(from, rank_);
  const auto arrived = [&] { return pair.sent.load() != pair.taken.load(); };
  const auto sender_ended = [&] { return world_.state().has_ended(from) && !arrived(); };
  const WaitEnd end = wait_on_bell(world_, rank_, arrived, sender_ended);
  if (end == WaitEnd::peer_failed) {
    world_.state().throw_peer_failed(row, rank_);
  }
  if (end != WaitEnd::done) {
    fail_and_throw(describe_wait(world_.state(), rank_, row, {from}, end));
  }
}

void ProcessMessages::fail_and_throw(const std::string& what) const {
  world_.poison(rank_, what);
  throw Error(what);
}

}  // namespace meshparity
