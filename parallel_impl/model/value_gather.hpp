// Values of parameters from the data-parallel ranks that own their parts: ZeRO's stage 3 gathers a
// piece before it is worked on, stages 1 and 2 gather all after the update.
#pragma once
#include <map>
#include <string_view>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/parameters.hpp"

namespace meshparity {

/// Everything referenced outlives it. Below stage 3 values are always there: gather, prefetch and
/// release do nothing.
template <class T>
class ValueGather {
 public:
  struct Parts {
    const CaseSpec& spec;
    const Mesh& mesh;
    Comm& comm;
    Backend<T>& backend;
    FaultPlan& faults;
  };
  /// A call's place: phase "forward", "backward" or "recompute".
  struct When {
    std::string_view phase;
    int step = 0;
    int mb = 0;
  };
  ValueGather(const Parts& parts, Parameters<T>& params);

  /// Begins to gather a piece that is needed soon; without overlap it is there at once.
  void prefetch(int piece, const When& when);
  /// The values of the piece's parameters are there until release.
  void gather(int piece, const When& when);
  void release(int piece);
  /// After the update each rank takes the parts of the others.
  void share(int step);

 private:
  struct Held {
    std::vector<StoredBucket<T>*> buckets;
    std::vector<Buffer<T>> values;  // one a bucket
    std::vector<Ticket> tickets;    // empty: all arrived
  };
  std::vector<StoredBucket<T>*> buckets_of(int piece);
  StoredBucket<T>& holding(std::string_view param);
  Collective request(const StoredBucket<T>& bucket, T* whole, const When& when) const;
  void arrive(Held& held);
  void make_stale(const StoredBucket<T>& bucket, Buffer<T>& values);
  void bind(const Bucket& plan, T* whole);

  Parts parts_;
  Parameters<T>& params_;
  CommGroup dp_;
  std::map<int, Held> held_;                           // by piece
  std::map<const StoredBucket<T>*, Buffer<T>> stale_;  // a planted fault's
};

}  // namespace meshparity
