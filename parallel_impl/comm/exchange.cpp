#include "parallel_impl/comm/exchange.hpp"

#include <cstring>

#include "parallel_impl/comm/ordered_sum.hpp"

namespace meshparity {
namespace {

std::vector<const std::byte*> inputs_of(const std::vector<Shown>& others) {
  std::vector<const std::byte*> inputs;
  for (const Shown& other : others) {
    inputs.push_back(other.input.data);
  }
  return inputs;
}

// Each rank reduces its slice of the elements for all: with 8 ranks every element is added once,
// not eight times.
void reduce_slice(const Collective& request, const std::vector<Shown>& others, std::byte* shared) {
  const std::int64_t total = request.input.count;
  const std::int64_t size = request.group.size();
  const std::int64_t begin = total * request.group.index / size;
  const std::int64_t end = total * (request.group.index + 1) / size;
  const std::vector<const std::byte*> inputs = inputs_of(others);
  const auto width = static_cast<std::int64_t>(element_bytes(request.input.type));
  reduce_in_order({inputs, begin, end - begin, request.input.type, request.op, request.accumulator},
                  shared + begin * width);
}

void reduce_own_part(const Collective& request, const std::vector<Shown>& others) {
  const std::vector<const std::byte*> inputs = inputs_of(others);
  reduce_in_order({inputs, part_offset(request.output_parts, request.group.index),
                   request.output.count, request.input.type, request.op, request.accumulator},
                  request.output.data);
}

void gather_parts(const Collective& request, const std::vector<Shown>& others) {
  std::int64_t place = 0;
  for (std::size_t from = 0; from < others.size(); ++from) {
    const std::int64_t count = request.output_parts[from];
    copy_elements(others[from].input, 0, request.output, place, count);
    place += count;
  }
}

void exchange_parts(const Collective& request, const std::vector<Shown>& others) {
  std::int64_t place = 0;
  for (std::size_t from = 0; from < others.size(); ++from) {
    const Shown& sender = others[from];
    const std::int64_t count = request.output_parts[from];
    copy_elements(sender.input, part_offset(*sender.input_parts, request.group.index),
                  request.output, place, count);
    place += count;
  }
}

}  // namespace

void copy_elements(const Payload& from, std::int64_t first, const Payload& to, std::int64_t place,
                   std::int64_t count) {
  const auto width = static_cast<std::int64_t>(element_bytes(to.type));
  std::byte* const target = to.data + place * width;
  const std::byte* const source = from.data + first * width;
  if (count > 0 && target != source) {
    std::memcpy(target, source, static_cast<std::size_t>(count * width));
  }
}

void read_from(const Collective& request, const std::vector<Shown>& others,
               std::byte* shared) noexcept {
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return reduce_slice(request, others, shared);
    case CollectiveKind::all_gather:
      return gather_parts(request, others);
    case CollectiveKind::reduce_scatter:
      return reduce_own_part(request, others);
    case CollectiveKind::all_to_all:
      return exchange_parts(request, others);
    case CollectiveKind::broadcast:
      return copy_elements(others[static_cast<std::size_t>(request.peer)].input, 0, request.output,
                           0, request.output.count);
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::barrier:
      return;
  }
}

}  // namespace meshparity
