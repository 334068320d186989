#include "parallel_impl/comm/cuda_staged_comm.hpp"

#include <algorithm>
#include <utility>

namespace meshparity {
namespace {

constexpr std::byte kAllBits{0xFF};  // a NaN in both widths, -1 or 255 in integers

std::size_t bytes_of(const Payload& payload) {
  return static_cast<std::size_t>(payload.count) * element_bytes(payload.type);
}

}  // namespace

std::unique_ptr<PinnedMemory> StagedComm::take_room() {
  if (rooms_.empty()) {
    return std::make_unique<PinnedMemory>();
  }
  std::unique_ptr<PinnedMemory> room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

// Afterwards `request` is the same call on pinned memory, its input complete. What the output holds
// goes along: a planted fault may leave some of it as it was.
StagedComm::Staged StagedComm::stage(Collective& request) {
  Staged staged{request.output, request.output, take_room(), nullptr, {}};
  std::byte* const input = copied(request.input, *staged.input_room);
  std::byte* output = input;
  // A part that begins where its whole begins is another buffer.
  if (request.input.data != request.output.data || request.input.count != request.output.count) {
    staged.output_room = take_room();
    output = copied(request.output, *staged.output_room);
  }
  stream_.finish("waiting for the input of a collective");
  request.input.data = input;
  request.output.data = output;
  staged.on_host.data = output;
  return staged;
}

std::byte* StagedComm::copied(const Payload& payload, PinnedMemory& room) {
  const std::size_t bytes = bytes_of(payload);
  std::byte* const to = room.room(bytes);
  stream_.copy(payload.data, to, bytes, "copying a message from the GPU");
  return to;
}

// By a copy, because the buffer may lie in the host's memory.
void StagedComm::mark_as_absent(const Payload& output) {
  const std::size_t bytes = bytes_of(output);
  std::byte* const marks = marks_.room(bytes);
  std::fill_n(marks, bytes, kAllBits);
  stream_.copy(marks, output.data, bytes, "marking an output as not there yet");
  stream_.finish("marking an output as not there yet");
}

// The pinned memory is free again when the copy has ended.
void StagedComm::unstage(Staged staged) {
  stream_.copy(staged.on_host.data, staged.output.data, bytes_of(staged.output),
               "copying a message to the GPU");
  stream_.finish("waiting for the output of a collective");
  rooms_.push_back(std::move(staged.input_room));
  if (staged.output_room != nullptr) {
    rooms_.push_back(std::move(staged.output_room));
  }
}

Ticket StagedComm::transport_start(const Collective& request, const CollectiveRow&) {
  Collective on_host = request;
  Staged staged = stage(on_host);
  mark_as_absent(request.output);
  staged.inner = inner_.start(on_host);
  const std::int64_t ticket = tickets_++;
  pending_.emplace(ticket, std::move(staged));
  return {ticket};
}

void StagedComm::transport_wait(Ticket ticket) {
  const auto found = pending_.find(ticket.id);
  Staged staged = std::move(found->second);
  pending_.erase(found);
  inner_.wait(staged.inner);
  unstage(std::move(staged));
}

void StagedComm::transport_at_once(const Collective& request, const CollectiveRow&) {
  Collective on_host = request;
  Staged staged = stage(on_host);
  inner_.carry_out(on_host);
  unstage(std::move(staged));
}

void StagedComm::keep_own(const Collective& request) {
  const OwnContribution own = own_contribution(request);
  if (own.from != own.to) {
    stream_.copy(own.from, own.to, own.bytes, "keeping a contribution on the GPU");
    stream_.finish("waiting for a contribution");
  }
}

}  // namespace meshparity
