#include "parallel_impl/comm/mpi_comm.hpp"

#include <algorithm>
#include <cstring>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/ordered_sum.hpp"

namespace meshparity {
namespace {

using Stream = MpiWorld::Stream;

/// Elements [first, first + count) of a buffer.
struct Slice {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

std::byte* at(const Payload& payload, std::int64_t element) {
  return payload.data + element * static_cast<std::int64_t>(element_bytes(payload.type));
}

// Each rank of an all_reduce adds one slice of the elements for all.
Slice sum_slice(std::int64_t total, int index, int size) {
  const std::int64_t begin = total * index / size;
  return {begin, total * (index + 1) / size - begin};
}

// What of this rank's input the member `to` needs.
Slice part_for(const Collective& request, int to) {
  const auto place = static_cast<std::size_t>(to);
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return sum_slice(request.input.count, to, request.group.size());
    case CollectiveKind::all_gather:
      return {0, request.input.count};
    case CollectiveKind::reduce_scatter:
      return {part_offset(request.output_parts, to), request.output_parts[place]};
    case CollectiveKind::all_to_all:
      return {part_offset(request.input_parts, to), request.input_parts[place]};
    case CollectiveKind::broadcast:
      return {0, request.peer == request.group.index ? request.input.count : 0};
    default:
      return {};
  }
}

std::vector<std::byte> bytes_of(const Payload& payload, const Slice& slice) {
  return slice.count == 0 ? std::vector<std::byte>()
                          : std::vector<std::byte>(at(payload, slice.first),
                                                   at(payload, slice.first + slice.count));
}

void copy_bytes(std::byte* to, const std::vector<std::byte>& from) {
  if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

// The packed call's size, the packed call, the values.
std::vector<std::byte> envelope(const std::vector<std::byte>& packed,
                                const std::vector<std::byte>& values) {
  const std::uint64_t size = packed.size();
  std::vector<std::byte> bytes(sizeof size + packed.size() + values.size());
  std::memcpy(bytes.data(), &size, sizeof size);
  copy_bytes(bytes.data() + sizeof size, packed);
  copy_bytes(bytes.data() + sizeof size + packed.size(), values);
  return bytes;
}

std::pair<UnpackedCall, std::vector<std::byte>> open(const std::vector<std::byte>& bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const auto packed = bytes.begin() + sizeof size;
  const auto values = packed + static_cast<std::ptrdiff_t>(size);
  return {unpack_call({packed, values}), {values, bytes.end()}};
}

}  // namespace

MpiComm::MpiComm(MpiWorld& world, Completion when)
    : Comm(world.launch()),
      world_(world),
      pending_(when, [this](const Collective& request, const CollectiveRow& row) {
        move(request, row);
      }) {}

void MpiComm::move(const Collective& request, const CollectiveRow& row) {
  if (world_.state().failed()) {
    world_.state().throw_peer_failed(row, rank());
  }
  world_.state().say(rank(), row);
  if (request.kind == CollectiveKind::send) {
    send(request, row);
  } else if (request.kind == CollectiveKind::receive) {
    receive(request, row);
  } else {
    meet(request, row);
  }
}

void MpiComm::send(const Collective& request, const CollectiveRow& row) {
  const int to = request.group.ranks[static_cast<std::size_t>(request.peer)];
  world_.send(to, Stream::message,
              envelope(pack_call(request, row), bytes_of(request.input, {0, request.input.count})));
  ++balance_;
}

void MpiComm::receive(const Collective& request, const CollectiveRow& row) {
  const int from = request.group.ranks[static_cast<std::size_t>(request.peer)];
  const auto [sent, values] = open(world_.take(from, Stream::message, row));
  const std::string wrong =
      describe_wrong_message(world_.state(), {&request, &row}, {&sent.request, &sent.row});
  if (!wrong.empty()) {
    fail_and_throw(wrong);
  }
  copy_bytes(request.output.data, values);
  if (request.clock != nullptr) {
    *request.clock = sent.clock;
  }
  --balance_;
}

void MpiComm::meet(const Collective& request, const CollectiveRow& row) {
  const std::vector<Told> told = tell_each_other(request, row);
  if (request.kind == CollectiveKind::all_reduce ||
      request.kind == CollectiveKind::reduce_scatter) {
    finish_sum(request, row, told);
  } else if (request.kind == CollectiveKind::broadcast) {
    copy_bytes(request.output.data, told[static_cast<std::size_t>(request.peer)].values);
  } else if (request.kind != CollectiveKind::barrier) {
    std::int64_t place = 0;
    for (std::size_t from = 0; from < told.size(); ++from) {
      copy_bytes(at(request.output, place), told[from].values);
      place += request.output_parts[from];
    }
  }
}

// A rank's own part takes the same way but for the message. Calls are compared as they come: one
// that is another call ends this one before values are used.
std::vector<MpiComm::Told> MpiComm::tell_each_other(const Collective& request,
                                                    const CollectiveRow& row) {
  const std::vector<std::byte> packed = pack_call(request, row);
  const std::vector<int>& ranks = request.group.ranks;
  std::vector<Told> told(ranks.size());
  for (int to = 0; to < request.group.size(); ++to) {
    std::vector<std::byte> values = bytes_of(request.input, part_for(request, to));
    if (to == request.group.index) {
      told[static_cast<std::size_t>(to)] = {unpack_call(packed), std::move(values)};
    } else {
      world_.send(ranks[static_cast<std::size_t>(to)], Stream::collective,
                  envelope(packed, values));
    }
  }
  for (std::size_t from = 0; from < ranks.size(); ++from) {
    if (ranks[from] != rank()) {
      auto [call, values] = open(world_.take(ranks[from], Stream::collective, row));
      const std::string difference =
          describe_difference(world_.state(), {&request, &row}, {&call.request, &call.row});
      if (!difference.empty()) {
        fail_and_throw(difference);
      }
      told[from] = {std::move(call), std::move(values)};
    }
  }
  refuse_unlike({&request, &row}, told);
  return told;
}

void MpiComm::refuse_unlike(const Entry& mine, const std::vector<Told>& told) {
  if (mine.request->kind != CollectiveKind::all_to_all) {
    return;
  }
  std::vector<Entry> entries;
  for (const Told& each : told) {
    entries.push_back({&each.call.request, &each.call.row});
  }
  const std::string unlike = describe_unlike_parts(world_.state(), mine, entries);
  if (!unlike.empty()) {
    fail_and_throw(unlike);
  }
}

// Every rank adds its slice (or its part) in the group's order; the slices of an all_reduce are
// then gathered.
void MpiComm::finish_sum(const Collective& request, const CollectiveRow& row,
                         const std::vector<Told>& told) {
  std::vector<const std::byte*> inputs;
  for (const Told& each : told) {
    inputs.push_back(each.values.data());
  }
  const CommGroup& group = request.group;
  const std::int64_t count = part_for(request, group.index).count;
  std::vector<std::byte> sum(static_cast<std::size_t>(count) * element_bytes(request.input.type));
  reduce_in_order({inputs, 0, count, request.input.type, request.op, request.accumulator},
                  sum.data());
  if (request.kind == CollectiveKind::reduce_scatter) {
    copy_bytes(request.output.data, sum);
    return;
  }
  for (const int to : group.ranks) {
    if (to != rank()) {
      world_.send(to, Stream::sum, sum);
    }
  }
  for (int from = 0; from < group.size(); ++from) {
    const int peer = group.ranks[static_cast<std::size_t>(from)];
    const Slice slice = sum_slice(request.output.count, from, group.size());
    copy_bytes(at(request.output, slice.first),
               peer == rank() ? sum : world_.take(peer, Stream::sum, row));
  }
}

void MpiComm::fail_and_throw(const std::string& what) {
  world_.poison(what);
  throw Error(what);
}

}  // namespace meshparity
