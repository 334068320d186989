// Comm for ranks whose buffers lie on a GPU, over a transport of the host's: inputs go to pinned
// memory, results come back from there. Buffers may as well lie in the host's memory.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"

namespace meshparity {

/// Inputs are read at the start, after all that was begun in the rank's stream; outputs hold NaN
/// between start and wait. This ledger is what the program asked for; `inner`'s, the same, is the
/// one that is kept.
class StagedComm final : public Comm {
 public:
  /// All three outlive this; the stream is the one in which the rank computes.
  StagedComm(Comm& inner, CudaStream& stream) : inner_(inner), stream_(stream) {}

  int rank() const override { return inner_.rank(); }
  int world() const override { return inner_.world(); }
  void poison(const std::string& why) override { inner_.poison(why); }

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override;
  void transport_wait(Ticket ticket) override;
  void transport_at_once(const Collective& request, const CollectiveRow& row) override;
  void keep_own(const Collective& request) override;

 private:
  /// A call whose buffers are pinned copies of the caller's.
  struct Staged {
    Payload output;  // the caller's
    Payload on_host;
    std::unique_ptr<PinnedMemory> input_room;
    std::unique_ptr<PinnedMemory> output_room;
    Ticket inner;
  };
  Staged stage(Collective& request);
  void unstage(Staged staged);
  std::byte* copied(const Payload& payload, PinnedMemory& room);
  void mark_as_absent(const Payload& output);
  std::unique_ptr<PinnedMemory> take_room();

  Comm& inner_;
  CudaStream& stream_;
  std::int64_t tickets_ = 0;
  std::map<std::int64_t, Staged> pending_;
  PinnedMemory marks_;
  std::vector<std::unique_ptr<PinnedMemory>> rooms_;  // not in use
};

}  // namespace meshparity
