#include "parallel_impl/comm/faulty_comm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace meshparity {
namespace {

template <class T>
std::span<T> elements(const Payload& payload) {
  return {reinterpret_cast<T*>(payload.data), static_cast<std::size_t>(payload.count)};
}

// A double goes to bfloat16 by way of float; the first rounding must not hide a tie from the
// second, so it rounds to odd.
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value || !std::isfinite(nearest) || std::isnan(value)) {
    return nearest;
  }
  const bool odd = (std::bit_cast<std::uint32_t>(nearest) & 1U) != 0;
  const float toward = back < value ? HUGE_VALF : -HUGE_VALF;
  return odd ? nearest : std::nextafter(nearest, toward);
}

void round_elements(const Payload& payload) {
  if (payload.type == ElementType::float64) {
    for (double& value : elements<double>(payload)) {
      value = static_cast<double>(round_to_bfloat16(round_to_odd(value)));
    }
  } else if (payload.type == ElementType::float32) {
    for (float& value : elements<float>(payload)) {
      value = round_to_bfloat16(value);
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
  } else {
    *payload.data ^= std::byte{1};
  }
}

}  // namespace

float round_to_bfloat16(float value) {
  if (!std::isfinite(value)) {
    return value;
  }
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t half = 0x7FFFU + ((bits >> 16) & 1U);  // a tie goes to the even neighbour
  return std::bit_cast<float>((bits + half) & 0xFFFF0000U);
}

Ticket FaultyComm::transport_start(const Collective& request, const CollectiveRow&) {
  pending_.emplace(tickets_, begin(request));
  return {tickets_++};
}

FaultyComm::Pending FaultyComm::begin(const Collective& request) {
  const Site& site = request.site;
  const std::optional<CommVerb> verb =
      plan_.verb_at({site.layer, site.role, site.phase, site.step, rank()});
  Pending pending;
  if (!verb) {
    pending.inner = inner_.start(request);
    return pending;
  }
  switch (*verb) {
    case CommVerb::skip:
      keep_own_contribution(request);
      break;
    case CommVerb::twice:
      inner_.wait(inner_.start(request));
      pending.inner = inner_.start(request);
      break;
    case CommVerb::cast:
      pending.inner = start_rounded(request, pending.rounded);
      break;
    case CommVerb::corrupt:
      pending.inner = inner_.start(request);
      pending.corrupted = request.output;
      break;
  }
  return pending;
}

// The caller's input stays as it is, unless it is the output too.
Ticket FaultyComm::start_rounded(Collective request, std::vector<std::byte>& rounded) {
  if (request.input.data != request.output.data) {
    const std::size_t bytes =
        static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type);
    rounded.assign(request.input.data, request.input.data + bytes);
    request.input.data = rounded.data();
  }
  round_elements(request.input);
  return inner_.start(request);
}

void FaultyComm::transport_wait(Ticket ticket) {
  const auto found = pending_.find(ticket.id);
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  inner_.wait(pending.inner);
  if (pending.corrupted) {
    change_first_element(*pending.corrupted);
  }
}

}  // namespace meshparity
