// For tests: what the ranks of one communicator of a NCCL that is none do together.
#pragma once
#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace meshparity {

enum class Kind { all_reduce, all_gather, reduce_scatter, reduce, broadcast };

/// What one rank gives to a call and where its result goes.
struct Share {
  Kind kind;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t operation;
  int root;
};

struct Message {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;
  bool done = false;
};

/// What the ranks of one communicator share; touched in the GPU's own time only, but for `joined`.
struct Clique {
  int size = 0;
  std::atomic<int> joined{0};
  std::map<std::size_t, std::map<int, Share>> calls;  // by number, then by rank
  std::set<std::size_t> done;
  std::map<std::pair<int, int>, std::map<std::size_t, Message>> messages;  // from, to; then number
};

struct FakeComm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  std::size_t calls = 0;
  std::map<int, std::size_t> sent;
  std::map<int, std::size_t> received;
  std::atomic<bool> aborted{false};
  std::atomic<int> error{ncclSuccess};
};

inline std::size_t bytes_of(ncclDataType_t type) {
  const bool wide = type == ncclFloat64 || type == ncclInt64;
  return wide ? 8 : (type == ncclUint8 ? 1 : 4);
}

/// elements[i] = other[i] op elements[i]
template <class T>
void combine(void* elements, const void* other, std::size_t count, ncclRedOp_t operation) {
  T* const into = static_cast<T*>(elements);
  const T* const from = static_cast<const T*>(other);
  for (std::size_t i = 0; i < count; ++i) {
    const T greater = from[i] > into[i] ? from[i] : into[i];
    into[i] = operation == ncclMax ? greater : static_cast<T>(into[i] + from[i]);
  }
}

inline void combine(const Share& share, void* into, const void* from) {
  switch (share.type) {
    case ncclFloat64:
      return combine<double>(into, from, share.count, share.operation);
    case ncclFloat32:
      return combine<float>(into, from, share.count, share.operation);
    case ncclInt64:
      return combine<long long>(into, from, share.count, share.operation);
    default:
      return combine<int>(into, from, share.count, share.operation);
  }
}

/// Part `part` of everybody's contribution, combined.
inline std::vector<std::byte> reduced(const std::map<int, Share>& shares, std::size_t part) {
  const Share& last = shares.rbegin()->second;
  const std::size_t bytes = last.count * bytes_of(last.type);
  const auto begin_of = [&](const Share& share) {
    return static_cast<const std::byte*>(share.from) + part * bytes;
  };
  std::vector<std::byte> sum(begin_of(last), begin_of(last) + bytes);
  for (auto each = std::next(shares.rbegin()); each != shares.rend(); ++each) {
    combine(each->second, sum.data(), begin_of(each->second));
  }
  return sum;
}

inline void put(void* to, const std::vector<std::byte>& bytes) {
  if (!bytes.empty()) {
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

inline std::vector<std::byte> gathered(const std::map<int, Share>& shares) {
  std::vector<std::byte> all;
  for (const auto& [rank, share] : shares) {
    const auto* const begin = static_cast<const std::byte*>(share.from);
    all.insert(all.end(), begin, begin + share.count * bytes_of(share.type));
  }
  return all;
}

// Results are made before any is written: inputs and outputs may be one buffer.
inline void carry_out(const std::map<int, Share>& shares) {
  std::map<int, std::vector<std::byte>> results;
  for (const auto& [rank, share] : shares) {
    const bool sums =
        share.kind == Kind::all_reduce || (share.kind == Kind::reduce && rank == share.root);
    if (sums) {
      results[rank] = reduced(shares, 0);
    } else if (share.kind == Kind::reduce_scatter) {
      results[rank] = reduced(shares, static_cast<std::size_t>(rank));
    } else if (share.kind == Kind::all_gather) {
      results[rank] = gathered(shares);
    } else if (share.kind == Kind::broadcast) {
      results[rank] = gathered({{share.root, shares.at(share.root)}});
    }
  }
  for (const auto& [rank, bytes] : results) {
    put(shares.at(rank).to, bytes);
  }
}

/// Whether a call has been done; asked in the GPU's own time, again and again.
using Ready = std::function<bool()>;

inline Ready collective(FakeComm* comm, const Share& share) {
  const std::size_t number = comm->calls++;
  return [clique = comm->clique, rank = comm->rank, number, share] {
    std::map<int, Share>& shares = clique->calls[number];
    shares.emplace(rank, share);
    const bool complete = shares.size() == static_cast<std::size_t>(clique->size);
    if (complete && clique->done.insert(number).second) {
      carry_out(shares);
    }
    return complete;
  };
}

inline Ready message(FakeComm* comm, std::pair<int, int> way, std::size_t number,
                     const Message& half) {
  return [clique = comm->clique, way, number, half] {
    Message& whole = clique->messages[way][number];
    whole.from = half.from != nullptr ? half.from : whole.from;
    whole.to = half.to != nullptr ? half.to : whole.to;
    whole.bytes = half.bytes;
    const bool both = whole.from != nullptr && whole.to != nullptr;
    if (both && !std::exchange(whole.done, true)) {
      std::memcpy(whole.to, whole.from, whole.bytes);
    }
    return whole.done || whole.bytes == 0;
  };
}

}  // namespace meshparity
