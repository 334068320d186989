#include "parallel_impl/comm/mailbox.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/patient_wait.hpp"

namespace meshparity {
namespace {

// A layer may differ: what one stage sends after its last block is another's first input.
bool same_place(const Site& a, const Site& b) {
  return a.role == b.role && a.phase == b.phase && a.step == b.step && a.mb == b.mb;
}

}  // namespace

void Mailbox::put(const Collective& request, const CollectiveRow& row) {
  const std::size_t bytes =
      static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type);
  Message message{row, request.site, {request.input.data, request.input.data + bytes}};
  const std::lock_guard guard(lock_);
  if (state_.failed()) {
    state_.throw_peer_failed(row, from_);
  }
  messages_.push_back(std::move(message));
  condition_.notify_all();
}

void Mailbox::take(const Collective& request, const CollectiveRow& row) {
  std::unique_lock guard(lock_);
  await_message(guard, row);
  const Message message = std::move(messages_.front());
  messages_.pop_front();
  const bool fits = message.row.count == row.count && message.row.type == row.type;
  if (!fits || !same_place(message.site, request.site)) {
    fail_and_throw(fmt::format("{} is in {}, but {} sent {}", state_.name(to_), describe_call(row),
                               state_.name(from_), describe_call(message.row)));
  }
  if (!message.bytes.empty()) {
    std::memcpy(request.output.data, message.bytes.data(), message.bytes.size());
  }
}

void Mailbox::await_message(std::unique_lock<std::mutex>& guard, const CollectiveRow& row) {
  const auto arrived = [&] { return !messages_.empty(); };
  const auto sender_ended = [&] { return state_.has_ended(from_); };
  const WaitEnd end = wait_patiently(guard, condition_, state_, arrived, sender_ended);
  if (end == WaitEnd::done) {
    return;
  }
  if (end == WaitEnd::peer_failed) {
    state_.throw_peer_failed(row, to_);
  }
  const std::string why = end == WaitEnd::peer_ended
                              ? "and has ended"
                              : fmt::format("and nothing moved for {} ms", state_.limit().count());
  fail_and_throw(fmt::format("{} waits in {} for {}, {}", state_.name(to_), describe_call(row),
                             state_.last_said(from_), why));
}

void Mailbox::fail_and_throw(const std::string& what) {
  state_.fail(to_, what);
  throw Error(what);
}

std::size_t Mailbox::left() const {
  const std::lock_guard guard(lock_);
  return messages_.size();
}

void Mailbox::wake() {
  const std::lock_guard guard(lock_);
  condition_.notify_all();
}

}  // namespace meshparity
