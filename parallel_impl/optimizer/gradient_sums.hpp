// Sums of gradients over data-parallel ranks, bucket by bucket: whole ones after the last backward
// pass, or this rank's part, from ZeRO's stage 2 on after each micro-batch.
#pragma once
#include <deque>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/optimizer/gradient_payload.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// Everything referenced outlives it.
template <class T>
class GradientSums {
 public:
  struct Parts {
    const CaseSpec& spec;
    const Mesh& mesh;
    Comm& comm;
    Backend<T>& backend;
    Recorder& recorder;
    FaultPlan& faults;
  };
  GradientSums(const Parts& parts, Parameters<T>& params);

  /// Before a backward pass of a chunk and before its weights' part: what its layers add from now
  /// on is the gradient of this micro-batch. Below stage 2 all of them add to one sum anyway.
  void begin(int chunk, int mb);
  /// The micro-batch's gradient of the chunk is complete; from stage 2 on its parts go to their
  /// owners, who add them in the order of these calls. While one is on its way the next one is
  /// given other memory, or waits for it.
  void complete(int chunk, int step, int mb);
  /// After all micro-batches: every rank has the sums that it owns. At level all, without ZeRO,
  /// what this rank puts in goes to /local/step<s>/grad.dp/contribution/<parameter>.
  void reduce(int step);

 private:
  enum class State { free, filling, travelling };
  /// A micro-batch's gradient of a chunk; one entry a bucket.
  struct Slot {
    int chunk = 0;
    int mb = 0;
    State state = State::free;
    std::vector<StoredBucket<T>*> buckets;
    std::vector<Buffer<T>> whole, part;
    std::vector<typename GradientPayload<T>::Transit> sums;
  };

  Slot& slot_for(int chunk, int mb);
  Slot& add_slot(int chunk);
  Slot* earliest(int chunk, State state);
  void bind(Slot& slot);
  void arrive(Slot& slot);
  int elements_late(const Buffer<T>& part);
  void reduce_whole(StoredBucket<T>& bucket, int step);
  void reduce_to_parts(StoredBucket<T>& bucket, int step);
  void record_contribution(const Param<T>& param, int step);
  bool left_out(const Param<T>& param, int step);
  Collective scatter_of(const Bucket& plan, const Payload& whole, const Payload& part,
                        const Site& site) const;

  Parts parts_;
  Parameters<T>& params_;
  GradientPayload<T> payload_;
  CommGroup dp_;
  std::deque<Slot> slots_;
};

}  // namespace meshparity
