// What happens to a step's gradients after their sum over data-parallel ranks (gradient_sums.hpp)
// and before the optimizer: sums over tp, the two halves of a tied weight, division by the tokens,
// the clip norm. Each rank does it for the parts that it owns.
#pragma once
#include <cstdint>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// Everything referenced outlives it.
template <class T>
class Gradients {
 public:
  struct Parts {
    const Mesh& mesh;
    Comm& comm;
    Backend<T>& backend;
    Recorder& recorder;
    FaultPlan& faults;
    bool sequence_parallel = false;
    /// Of a tied model the rank with the embedding, then that with the head, where these are two;
    /// without ranks otherwise.
    CommGroup tied;
  };
  Gradients(const Parts& parts, Parameters<T>& params);

  /// In two coalesced all-reduces: over the ranks with the same key heads the gradients of their
  /// weights (role grad.kv), over tp those of whole parameters that each rank applied to other
  /// heads, or with sequence parallelism to other rows (role grad.tp, or grad.sp then).
  void sum_over_tp(int step);
  /// A tied weight's two uses have a buffer each on every layout, added here once, after division:
  /// both end with embedding + head. Where they lie on two ranks these exchange them (role
  /// grad.tied).
  void tie(int step);
  /// By what the step's loss is divided by: tokens or means. Zero where there are none.
  void divide_by(double count);
  /// Whether any rank holds an infinity or a NaN, which skips the step on all of them.
  bool found_infinity(int step);
  /// Root of the sum of squares over the distinct elements of the model: squares rounded, then
  /// added without rounding, so the bits do not depend on the layout.
  double norm(int step);

 private:
  bool counts_here(const Param<T>& param) const;
  bool is_partial(const Param<T>& param) const;
  std::int64_t planted_padding();
  void sum_together(const std::vector<Param<T>*>& params, const CommGroup& group, const Site& site);

  Parts parts_;
  Parameters<T>& params_;
  CommGroup tp_, kv_;
  CommGroup owners_;  // the ranks that own the parts of all gradients: tp and pp, with ZeRO dp
};

/// min(1, limit / (norm + 1e-6))
double clip_coefficient(double limit, double norm);

}  // namespace meshparity
