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

template <class T>
class ParamRecords {
 public:
  /// `faults` outlives it; null where none is planted.
  ParamRecords(Recorder& recorder, Memory& memory, FaultPlan* faults = nullptr)
      : recorder_(recorder), memory_(memory), faults_(faults) {}

  void gradients(int step, const std::vector<Param<T>>& params);
  void after_update(int step, const std::vector<Param<T>>& params, const Optimizer<T>& optimizer);
  void number(Phase phase, const std::string& name, int step, double value);
  void integers(const std::string& name, int step, const std::vector<std::int64_t>& values);

 private:
  void slice(Phase phase, int step, const Param<T>& param, const T* values);
  bool fires(std::string_view fault, Phase phase, const Param<T>& param) const;
  void copy(Phase phase, int step, const Param<T>& param, const T* values);
  void padding(Phase phase, int step, const Param<T>& param, const T* values);

  Recorder& recorder_;
  Memory& memory_;
  FaultPlan* faults_;
  std::vector<T> host_;
};

}  // namespace meshparity
