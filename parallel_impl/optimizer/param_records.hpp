// Records of a step that belong to parameters, not to tokens: gradients, parameters, moments, and
// the scalars of the step.
#pragma once
#include <string>
#include <vector>

#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/optimizer/optimizer.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// What ZeRO cuts is recorded as what a rank owns: a flat range of its slice, or rows of it.
template <class T>
class ParamRecords {
 public:
  /// `faults` outlives it; null where none is planted.
  ParamRecords(Recorder& recorder, Memory& memory, FaultPlan* faults = nullptr)
      : recorder_(recorder), memory_(memory), faults_(faults) {}

  void gradients(int step, Parameters<T>& params);
  void after_update(int step, Parameters<T>& params, const Optimizer<T>& optimizer);
  void number(Phase phase, const std::string& name, int step, double value);
  void integers(const std::string& name, int step, const std::vector<std::int64_t>& values);

 private:
  /// Elements [first, first + count) of a slice, or of a bucket, in type V.
  template <class V>
  struct Held {
    std::int64_t first = 0;
    std::int64_t count = 0;
    const V* values = nullptr;
  };
  enum class Cut { none, flat, rows };
  struct Place {
    Phase phase = Phase::grad;
    int step = 0;
    Cut cut = Cut::none;
  };
  template <class V>
  static Held<V> own(const Param<T>& param, const V* values) {
    return {param.own.first, param.own.count, values};
  }
  static Cut cut_of(const Parameters<T>& params, int from_stage);

  template <class S>
  void state(int step, Parameters<T>& params, const Optimizer<T>& optimizer,
             const OptimizerState<S>& held);
  void values(int step, Parameters<T>& params);
  template <class V>
  void piece(const Place& place, const Param<T>& param, const Held<V>& held);
  Placement placement(const Place& place, const Param<T>& param, std::int64_t begin,
                      std::int64_t end) const;
  bool fires(std::string_view fault, Phase phase, const Param<T>& param) const;
  template <class V>
  void copy(const Place& place, const Param<T>& param, const Held<V>& held);
  template <class V>
  void padding(const Place& place, const Param<T>& param, const Held<V>& held);
  template <class V>
  void bucket_padding(const Place& place, std::size_t index, const Bucket& plan,
                      const Held<V>& held);
  template <class V>
  void local(const std::string& path, std::vector<std::int64_t> shape, const V* values);
  template <class V>
  std::vector<V> on_host(const V* values, std::int64_t count);

  Recorder& recorder_;
  Memory& memory_;
  FaultPlan* faults_;
};

}  // namespace meshparity
