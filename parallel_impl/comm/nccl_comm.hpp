// Comm over NCCL, one rank a GPU. Before each call its ranks meet on the host, so that a call that
// somebody does not enter, or enters otherwise, is told apart there, by rank and call.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/nccl_buffers.hpp"
#include "parallel_impl/comm/nccl_group.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"

namespace meshparity {

/// into += from, elementwise in floating point, in the rank's stream.
using AddOnGpu = std::function<void(const Payload& from, const Payload& into)>;

struct NcclChoice {
  /// Sums of floating point are made by us, in canonical order, from gathered contributions;
  /// otherwise by NCCL in its own order. Integers and maxima have no order. A maximum may hide NaN.
  bool ordered = false;
  AddOnGpu add;
};

/// A send is taken when its receiver comes; lists of sends and receives must end even so. Inputs
/// are read after all that was begun in the stream, outputs are there for what is begun later.
class NcclComm final : public Comm {
 public:
  /// What `side` names and the stream, in which the rank computes, outlive this.
  NcclComm(NcclSide side, CudaStream& stream, NcclChoice choice);
  ~NcclComm() override;

  int rank() const override { return side_.host.rank(); }
  int world() const override { return side_.host.world(); }
  /// Ends what is under way on this rank, and tells the others.
  void poison(const std::string& why) override;

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override;
  void transport_wait(Ticket ticket) override;
  void keep_own(const Collective& request) override;

 private:
  struct Call {
    CollectiveRow row;
    bool waits = true;  // a send does not
    NcclGroup* group = nullptr;
    std::unique_ptr<GpuBuffers> buffers;
    std::unique_ptr<CudaEvent> end;
  };
  Ticket start_call(const Collective& request, const CollectiveRow& row);
  void meet(const Collective& request);
  void leave_note(const Collective& request);
  NcclGroup& group_of(const Collective& request, const CollectiveRow& row);
  CudaStream& stream_of(const Collective& request);
  void put(const Collective& on_gpu, Call& call);
  void put_ordered(const Collective& on_gpu, Call& call);
  void add_in_order(const Payload& parts, const Payload& out);
  void forget_ended_sends();
  void await_end(const Call& call);
  template <class Body>
  void guarded(const Body& body);

  NcclSide side_;
  CudaStream& stream_;
  CudaStream sends_;
  NcclChoice choice_;
  std::map<std::pair<std::vector<int>, bool>, std::unique_ptr<NcclGroup>> groups_;
  std::int64_t tickets_ = 0;
  std::map<std::int64_t, Call> pending_;
  std::vector<Call> sent_;
};

}  // namespace meshparity
