#include "parallel_impl/comm/mailbox.hpp"

#include <cstring>
#include <utility>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/call_agreement.hpp"
#include "parallel_impl/comm/patient_wait.hpp"

namespace meshparity {

void Mailbox::put(const Collective& request, const CollectiveRow& row) {
  const std::size_t bytes =
      static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type);
  Message message{row,
                  request.site,
                  {request.input.data, request.input.data + bytes},
                  request.clock == nullptr ? 0 : *request.clock};
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
  Collective sent = request;  // its group, as the sender sees it
  sent.site = message.site;
  sent.group.index = request.peer;
  const std::string wrong = describe_wrong_message(state_, {&request, &row}, {&sent, &message.row});
  if (!wrong.empty()) {
    fail_and_throw(wrong);
  }
  if (!message.bytes.empty()) {
    std::memcpy(request.output.data, message.bytes.data(), message.bytes.size());
  }
  if (request.clock != nullptr) {
    *request.clock = message.clock;
  }
}

void Mailbox::await_message(std::unique_lock<std::mutex>& guard, const CollectiveRow& row) {
  const auto arrived = [&] { return !messages_.empty(); };
  const auto sender_ended = [&] { return state_.has_ended(from_); };
  const WaitEnd end = wait_patiently(nap_on(condition_, guard), state_, arrived, sender_ended);
  if (end == WaitEnd::done) {
    return;
  }
  if (end == WaitEnd::peer_failed) {
    state_.throw_peer_failed(row, to_);
  }
  fail_and_throw(describe_wait(state_, to_, row, {from_}, end));
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
