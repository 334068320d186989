#include "parallel_impl/comm/nccl_group.hpp"

#include <fmt/format.h>

#include <span>
#include <thread>

#include "parallel_impl/comm/patient_wait.hpp"

namespace meshparity {
namespace {

constexpr std::chrono::microseconds kBreath{50};

/// Made by the group's first rank and told to all over the host.
ncclUniqueId shared_id(const NcclSide& side, const CommGroup& group, const CollectiveRow& row) {
  ncclUniqueId id{};
  if (group.index == 0) {
    const ncclResult_t made = ncclGetUniqueId(&id);
    if (made != ncclSuccess) {
      throw Error(fmt::format("{}, making an id of NCCL for {}: {}",
                              side.state.name(side.host.rank()), describe_call(row),
                              ncclGetErrorString(made)));
    }
  }
  Collective tell;
  tell.kind = CollectiveKind::broadcast;
  tell.group = group;
  tell.peer = 0;
  tell.site = {-1, "nccl.id", "begin", 0, 0};
  tell.input = tell.output = {reinterpret_cast<std::byte*>(&id), sizeof id, ElementType::uint8};
  side.host.carry_out(tell);
  return id;
}

}  // namespace

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

NcclGroup::NcclGroup(NcclSide side, const CommGroup& group, const CollectiveRow& row)
    : side_(side) {
  const ncclUniqueId id = shared_id(side_, group, row);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.minCTAs = config.maxCTAs = kNcclChannels;
  const ncclResult_t result =
      ncclCommInitRankConfig(&comm_, group.size(), id, group.index, &config);
  try {
    begun(result, row, "beginning NCCL");
  } catch (...) {
    abort();
    throw;
  }
}

// Of a communicator that failed nothing else can be asked; the others are told by their hosts.
NcclGroup::~NcclGroup() {
  if (comm_ != nullptr) {
    if (side_.state.failed()) {
      ncclCommAbort(comm_);
    } else {
      ncclCommDestroy(comm_);
    }
  }
}

void NcclGroup::abort() {
  if (comm_ != nullptr) {
    ncclCommAbort(comm_);
    comm_ = nullptr;
  }
}

ncclResult_t NcclGroup::state_of_comm() const {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm_, &state);
  return asked == ncclSuccess ? state : asked;
}

void NcclGroup::give_up(const CollectiveRow& row, std::string_view doing,
                        std::string_view why) const {
  throw Error(fmt::format("{}, {} for {}: {}", side_.state.name(side_.host.rank()), doing,
                          describe_call(row), why));
}

void NcclGroup::refuse_error(const CollectiveRow& row, std::string_view doing) const {
  const ncclResult_t state = state_of_comm();
  if (state != ncclSuccess && state != ncclInProgress) {
    give_up(row, doing, ncclGetErrorString(state));
  }
}

void NcclGroup::begun(ncclResult_t result, const CollectiveRow& row, std::string_view doing) {
  if (result != ncclSuccess && result != ncclInProgress) {
    give_up(row, doing, ncclGetErrorString(result));
  }
  await([this] { return state_of_comm() != ncclInProgress; }, row, doing);
}

void NcclGroup::await(const std::function<bool()>& done, const CollectiveRow& row,
                      std::string_view doing) {
  const auto nap = [&](std::chrono::milliseconds longest) {
    const auto until = std::chrono::steady_clock::now() + longest;
    while (std::chrono::steady_clock::now() < until && !done() && !side_.state.failed()) {
      refuse_error(row, doing);
      std::this_thread::sleep_for(kBreath);
    }
    return false;
  };
  const auto never = [] { return false; };
  const WaitEnd end =
      yield_until(done) ? WaitEnd::done : wait_patiently(nap, side_.state, done, never);
  refuse_error(row, doing);
  if (end == WaitEnd::peer_failed) {
    side_.state.throw_peer_failed(row, side_.host.rank());
  }
  if (end != WaitEnd::done) {
    give_up(row, doing, fmt::format("nothing moved for {} ms", side_.state.limit().count()));
  }
}

}  // namespace meshparity
