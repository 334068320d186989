#include "parallel_impl/optimizer/param_records.hpp"

#include <fmt/format.h>

#include "parallel_impl/model/placement.hpp"

namespace meshparity {
namespace {

/// Rows of the slice that this rank records: where several ranks hold it, its share of them.
RowRange recorded_rows(const ParamSlice& slice) {
  return row_share(static_cast<int>(slice.box.extent.front()), slice.copies, slice.copy);
}

Box recorded_box(const ParamSlice& slice) {
  const RowRange rows = recorded_rows(slice);
  Box box = slice.box;
  box.start.front() += rows.first;
  box.extent.front() = rows.count;
  return box;
}

std::int64_t first_recorded(const ParamSlice& slice) {
  const bool is_matrix = slice.box.extent.size() == 2;
  return std::int64_t{recorded_rows(slice).first} * (is_matrix ? slice.columns : 1);
}

}  // namespace

template <class T>
void ParamRecords<T>::gradients(int step, const std::vector<Param<T>>& params) {
  for (const Param<T>& param : params) {
    slice(Phase::grad, step, param, param.grad);
  }
}

template <class T>
void ParamRecords<T>::after_update(int step, const std::vector<Param<T>>& params,
                                   const Optimizer<T>& optimizer) {
  for (std::size_t index = 0; index < params.size(); ++index) {
    const Param<T>& param = params[index];
    if (optimizer.moment1(index).count() > 0) {
      slice(Phase::moment1, step, param, optimizer.moment1(index).data());
    }
    if (optimizer.moment2(index).count() > 0) {
      slice(Phase::moment2, step, param, optimizer.moment2(index).data());
    }
    slice(Phase::param, step, param, param.value);
  }
}

template <class T>
void ParamRecords<T>::slice(Phase phase, int step, const Param<T>& param, const T* values) {
  if (!recorder_.wants(phase, param.spec.name)) {
    return;
  }
  if (fires("shard_not_saved", phase, param)) {
    return;
  }
  Box box = recorded_box(param.slice);
  if (fires("shard_saved_as_first", phase, param)) {
    box.start.assign(box.start.size(), 0);
  }
  const std::int64_t first = first_recorded(param.slice);
  host_.resize(static_cast<std::size_t>(element_count(box)));
  memory_.download(values + first, host_.data(), host_.size() * sizeof(T));
  const char* shared_over = param.slice.shard_dim >= 0 ? "dp" : "dp,tp";
  recorder_.record(phase, param.spec.name, {step, 0, BoxPlacement{{box}}, shared_over},
                   std::span<const T>(host_));
  padding(phase, step, param, values);
  copy(phase, step, param, values);
}

/// Planted faults of saving strike every shard but the first of one matrix, cut by columns.
template <class T>
bool ParamRecords<T>::fires(std::string_view fault, Phase phase, const Param<T>& param) const {
  return faults_ != nullptr && phase == Phase::param && param.spec.name == "layer0.mlp.up.weight" &&
         param.slice.box.start[1] > 0 && faults_->fires(fault, param.spec.layer);
}

/// Of a slice that several ranks hold, all that this one does: to see that they agree.
template <class T>
void ParamRecords<T>::copy(Phase phase, int step, const Param<T>& param, const T* values) {
  if (param.slice.copies == 1 || !recorder_.wants_local()) {
    return;
  }
  host_.resize(static_cast<std::size_t>(param.slice.logical));
  memory_.download(values, host_.data(), host_.size() * sizeof(T));
  recorder_.record_local(fmt::format("copy/step{}/{}/{}", step, phase_name(phase), param.spec.name),
                         param.slice.box.extent, std::vector<double>(host_.begin(), host_.end()));
}

/// Padding belongs to no record, but must be zero; level all shows it under /local/pad.
template <class T>
void ParamRecords<T>::padding(Phase phase, int step, const Param<T>& param, const T* values) {
  const int count = param.count() - param.slice.logical;
  if (count == 0 || !recorder_.wants_local()) {
    return;
  }
  host_.resize(static_cast<std::size_t>(count));
  memory_.download(values + param.slice.logical, host_.data(), host_.size() * sizeof(T));
  recorder_.record_local(fmt::format("pad/step{}/{}/{}", step, phase_name(phase), param.spec.name),
                         {count}, std::vector<double>(host_.begin(), host_.end()));
}

template <class T>
void ParamRecords<T>::number(Phase phase, const std::string& name, int step, double value) {
  recorder_.record(phase, name, {step, 0, BoxPlacement{{Box{{0}, {1}}}}, "dp,tp"},
                   std::span<const double>(&value, 1));
}

template <class T>
void ParamRecords<T>::integers(const std::string& name, int step,
                               const std::vector<std::int64_t>& values) {
  recorder_.record_integers(
      Phase::exact, name,
      {step, 0, BoxPlacement{{Box{{0}, {static_cast<std::int64_t>(values.size())}}}}, "dp,tp"},
      values);
}

template class ParamRecords<double>;
template class ParamRecords<float>;

}  // namespace meshparity
