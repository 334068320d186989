// One communicator of NCCL: begun over a transport of the host's, watched by polling, aborted when
// a rank fails, so that a dead peer becomes an error and never a hang.
#pragma once
#include <nccl.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// Of every communicator: fixed, because the order of NCCL's sums depends on it.
inline constexpr int kNcclChannels = 2;
/// "NCCL 2.28.9"
std::string nccl_version();

/// What stands beside NCCL: where ranks meet on the host, and what they know of each other.
struct NcclSide {
  Comm& host;
  WorldState& state;
};

class NcclGroup {
 public:
  /// Every rank of the group comes here for the same call; `row` is that call. Throws Error with
  /// rank and call when NCCL refuses or does not begin within the limit.
  NcclGroup(NcclSide side, const CommGroup& group, const CollectiveRow& row);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  ncclComm_t get() const { return comm_; }
  /// A call of NCCL returned `result`: what was begun is under way when this returns.
  void begun(ncclResult_t result, const CollectiveRow& row, std::string_view doing);
  /// Polls `done`, errors of NCCL and failures of ranks. Throws PeerFailed for the latter, Error
  /// with rank and call for the others and when nothing moves for the limit.
  void await(const std::function<bool()>& done, const CollectiveRow& row, std::string_view doing);
  /// Ends what is under way on this rank; nothing more may be begun.
  void abort();

 private:
  void refuse_error(const CollectiveRow& row, std::string_view doing) const;
  [[noreturn]] void give_up(const CollectiveRow& row, std::string_view doing,
                            std::string_view why) const;
  ncclResult_t state_of_comm() const;

  NcclSide side_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace meshparity
