#include "parallel_impl/comm/nccl_puts.hpp"

#include <algorithm>

#include "parallel_impl/comm/nccl_buffers.hpp"

namespace meshparity {
namespace {

ncclDataType_t type_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return ncclFloat64;
    case ElementType::float32:
      return ncclFloat32;
    case ElementType::int64:
      return ncclInt64;
    case ElementType::int32:
      return ncclInt32;
    default:
      return ncclUint8;
  }
}

std::size_t count_of(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

bool are_equal(const std::vector<std::int64_t>& parts) {
  return std::adjacent_find(parts.begin(), parts.end(), std::not_equal_to<>()) == parts.end();
}

ncclRedOp_t operation_of(const Collective& request) {
  return request.op == ReduceOp::max ? ncclMax : ncclSum;
}

}  // namespace

std::int64_t moved_count(const Collective& request) {
  return request.kind == CollectiveKind::receive ? request.output.count : request.input.count;
}

/// Calls of NCCL that begin as one; each of them is asked for its result.
template <class Calls>
void NcclPut::together(const Calls& calls) const {
  check(ncclGroupStart());
  ncclResult_t first = ncclSuccess;
  calls([&](ncclResult_t result) {
    first = first == ncclSuccess && result != ncclInProgress ? result : first;
  });
  const ncclResult_t ended = ncclGroupEnd();
  check(first == ncclSuccess ? ended : first);
}

void NcclPut::carry_out(const Collective& request) const {
  switch (request.kind) {
    case CollectiveKind::all_reduce:
      return reduce(request);
    case CollectiveKind::all_gather:
      return all_gather(request);
    case CollectiveKind::reduce_scatter:
      return reduce_scatter(request);
    case CollectiveKind::all_to_all:
      return all_to_all(request);
    case CollectiveKind::broadcast:
      return broadcast(request);
    case CollectiveKind::send:
    case CollectiveKind::receive:
      return pairwise(request);
    case CollectiveKind::barrier:
      return;  // the meeting on the host was it
  }
}

void NcclPut::reduce(const Collective& request) const {
  check(ncclAllReduce(request.input.data, request.output.data, count_of(request.input.count),
                      type_of(request.input.type), operation_of(request), group.get(), stream));
}

void NcclPut::reduce_scatter(const Collective& request) const {
  const ncclDataType_t type = type_of(request.input.type);
  if (are_equal(request.output_parts)) {
    check(ncclReduceScatter(request.input.data, request.output.data, count_of(request.output.count),
                            type, operation_of(request), group.get(), stream));
    return;
  }
  together([&](const auto& ask) {
    std::int64_t first = 0;
    for (int root = 0; root < request.group.size(); ++root) {
      const std::int64_t count = request.output_parts[static_cast<std::size_t>(root)];
      ask(ncclReduce(part_of(request.input, first, count).data, request.output.data,
                     count_of(count), type, operation_of(request), root, group.get(), stream));
      first += count;
    }
  });
}

void NcclPut::all_gather(const Collective& request) const {
  const ncclDataType_t type = type_of(request.input.type);
  if (are_equal(request.output_parts)) {
    check(ncclAllGather(request.input.data, request.output.data, count_of(request.input.count),
                        type, group.get(), stream));
    return;
  }
  together([&](const auto& ask) {
    std::int64_t first = 0;
    for (int root = 0; root < request.group.size(); ++root) {
      const std::int64_t count = request.output_parts[static_cast<std::size_t>(root)];
      ask(ncclBroadcast(request.input.data, part_of(request.output, first, count).data,
                        count_of(count), type, root, group.get(), stream));
      first += count;
    }
  });
}

void NcclPut::all_to_all(const Collective& request) const {
  const ncclDataType_t type = type_of(request.input.type);
  together([&](const auto& ask) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (int peer = 0; peer < request.group.size(); ++peer) {
      const std::int64_t out = request.input_parts[static_cast<std::size_t>(peer)];
      const std::int64_t in = request.output_parts[static_cast<std::size_t>(peer)];
      ask(ncclSend(part_of(request.input, from, out).data, count_of(out), type, peer, group.get(),
                   stream));
      ask(ncclRecv(part_of(request.output, to, in).data, count_of(in), type, peer, group.get(),
                   stream));
      from += out;
      to += in;
    }
  });
}

void NcclPut::broadcast(const Collective& request) const {
  check(ncclBroadcast(request.input.data, request.output.data, count_of(request.input.count),
                      type_of(request.input.type), request.peer, group.get(), stream));
}

void NcclPut::pairwise(const Collective& request) const {
  if (request.kind == CollectiveKind::send) {
    check(ncclSend(request.input.data, count_of(request.input.count), type_of(request.input.type),
                   request.peer, group.get(), stream));
  } else {
    check(ncclRecv(request.output.data, count_of(request.output.count),
                   type_of(request.output.type), request.peer, group.get(), stream));
  }
}

}  // namespace meshparity
