#include "parallel_impl/comm/faulty_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/planted_group.hpp"

namespace meshparity {
namespace {

template <class T>
std::span<T> elements(const Payload& payload) {
  return {reinterpret_cast<T*>(payload.data), static_cast<std::size_t>(payload.count)};
}

void round_elements(const Payload& payload) {
  if (payload.type == ElementType::float64) {
    for (double& value : elements<double>(payload)) {
      value = static_cast<double>(widened(rounded_to_bfloat16(value)));
    }
  } else if (payload.type == ElementType::float32) {
    for (float& value : elements<float>(payload)) {
      value = widened(rounded_to_bfloat16(value));
    }
  }
}

// Another value for every value but NaN: 1.5 x + 1, or the lowest bit of an integer flipped.
void change_first_element(const Payload& payload) {
  if (payload.count == 0) {
    return;
  }
  if (payload.type == ElementType::float64) {
    double& value = elements<double>(payload).front();
    value = 1.5 * value + 1.0;
  } else if (payload.type == ElementType::float32) {
    float& value = elements<float>(payload).front();
    value = 1.5F * value + 1.0F;
  } else if (payload.type == ElementType::bfloat16) {
    Bfloat16& value = elements<Bfloat16>(payload).front();
    value = rounded_to_bfloat16(1.5F * widened(value) + 1.0F);
  } else {
    *payload.data ^= std::byte{1};
  }
}

std::byte* end_of(const Payload& payload) {
  return payload.data + payload.count * static_cast<std::int64_t>(element_bytes(payload.type));
}

std::vector<std::byte> bytes_of(const Payload& payload) {
  return {payload.data, end_of(payload)};
}

/// No bytes of an empty payload.
std::vector<std::byte> last_element(const Payload& payload) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(payload.type));
  return {end_of(payload) - (payload.count > 0 ? bytes : 0), end_of(payload)};
}

// Parts 0 1 2 become 2 1 0, each as long as it was; without parts nothing is done.
void reverse_parts(const Payload& payload, const std::vector<std::int64_t>& parts) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(payload.type));
  const std::vector<std::byte> before = bytes_of(payload);
  std::byte* to = end_of(payload);
  const std::byte* from = before.data();
  for (const std::int64_t part : parts) {
    to -= part * bytes;
    std::copy_n(from, part * bytes, to);
    from += part * bytes;
  }
}

}  // namespace

Ticket FaultyComm::transport_start(const Collective& request, const CollectiveRow&) {
  pending_.emplace(tickets_, begin(request));
  return {tickets_++};
}

FaultyComm::Pending FaultyComm::begin(const Collective& request) {
  const Site& site = request.site;
  Pending pending;
  pending.verb = plan_.verb_at({site.layer, site.role, site.phase, site.step, rank()});
  if (pending.verb) {
    pending.output = request.output;
    begin_with(*pending.verb, request, pending);
  } else {
    pending.inner = inner_.start(request);
  }
  return pending;
}

void FaultyComm::begin_with(CommVerb verb, const Collective& request, Pending& pending) {
  switch (verb) {
    case CommVerb::skip:
      keep_own_contribution(request);
      return;
    case CommVerb::cast:
      pending.inner = start_rounded(request, pending.own);
      return;
    case CommVerb::everyone:
      pending.inner = start_over(request, everyone_with(request.group, world()));
      return;
    case CommVerb::half:
      pending.inner = start_over(request, half_of(request.group));
      return;
    case CommVerb::crosswise:
      pending.inner = start_over(request, crosswise_to(request.group, world()));
      return;
    case CommVerb::reorder:
      pending.inner = start_over(request, reordered(request.group));
      return;
    case CommVerb::permute:
      pending.parts = request.kind == CollectiveKind::all_gather ? request.output_parts
                                                                 : std::vector<std::int64_t>();
      pending.inner = start_permuted(request, pending.own);
      return;
    case CommVerb::twice:
      inner_.wait(inner_.start(request));
      break;
    case CommVerb::delay:
      std::this_thread::sleep_for(std::chrono::milliseconds(rank() % 4));
      break;
    case CommVerb::drop_tail:
      pending.own = last_element(request.output);
      break;
    case CommVerb::corrupt:
      break;
  }
  pending.inner = inner_.start(request);
}

Ticket FaultyComm::start_over(const Collective& request, CommGroup group) {
  if (request.kind != CollectiveKind::all_reduce) {
    throw Error(
        fmt::format("rank {}: a fault at {} asks for another group, which an {} cannot take",
                    rank(), format_site(request.site), collective_name(request.kind)));
  }
  Collective elsewhere = request;
  elsewhere.group = std::move(group);
  return inner_.start(elsewhere);
}

// The caller's input stays as it is, unless it is the output too.
Ticket FaultyComm::start_rounded(Collective request, std::vector<std::byte>& rounded) {
  if (request.input.data != request.output.data) {
    rounded = bytes_of(request.input);
    request.input.data = rounded.data();
  }
  round_elements(request.input);
  return inner_.start(request);
}

// What is scattered is permuted before, what is gathered after.
Ticket FaultyComm::start_permuted(Collective request, std::vector<std::byte>& permuted) {
  if (request.kind == CollectiveKind::reduce_scatter) {
    permuted = bytes_of(request.input);
    request.input.data = permuted.data();
    reverse_parts(request.input, request.output_parts);
  }
  return inner_.start(request);
}

void FaultyComm::finish(const Pending& pending) {
  if (pending.verb == CommVerb::corrupt) {
    change_first_element(pending.output);
  } else if (pending.verb == CommVerb::permute) {
    reverse_parts(pending.output, pending.parts);
  } else if (pending.verb == CommVerb::drop_tail) {
    std::copy(pending.own.begin(), pending.own.end(),
              end_of(pending.output) - std::ssize(pending.own));
  }
}

void FaultyComm::transport_wait(Ticket ticket) {
  const auto found = pending_.find(ticket.id);
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  inner_.wait(pending.inner);
  finish(pending);
}

}  // namespace meshparity
