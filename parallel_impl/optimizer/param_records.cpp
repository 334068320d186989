#include "parallel_impl/optimizer/param_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "parallel_impl/model/placement.hpp"

namespace meshparity {
namespace {

/// Elements of a row of the slice; a vector's rows are its elements.
std::int64_t row_width(const ParamSlice& slice) {
  return slice.box.extent.size() == 2 ? slice.columns : 1;
}

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};

/// Elements of the slice that this rank records where it holds all: without vocabulary padding, and
/// of a slice that several ranks hold its share of the rows.
Range recorded(const ParamSlice& slice) {
  const RowRange rows =
      row_share(static_cast<int>(slice.box.extent.front()), slice.copies, slice.copy);
  const std::int64_t width = row_width(slice);
  return {rows.first * width, (rows.first + rows.count) * width};
}

Range common(const Range& a, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = std::clamp(first, a.begin, a.end);
  return {begin, std::clamp(first + count, begin, a.end)};
}

}  // namespace

template <class T>
typename ParamRecords<T>::Cut ParamRecords<T>::cut_of(const Parameters<T>& params, int from_stage) {
  if (params.rules().stage < from_stage) {
    return Cut::none;
  }
  return params.rules().by_parameter ? Cut::rows : Cut::flat;
}

template <class T>
void ParamRecords<T>::gradients(int step, Parameters<T>& params) {
  const Place place{Phase::grad, step, cut_of(params, 1)};
  for (const Param<T>& param : params.all()) {
    piece(place, param, own(param, param.own.grad));
  }
  const bool whole = params.rules().stage < 2;
  for (std::size_t i = 0; i < params.buckets().size(); ++i) {
    const StoredBucket<T>& bucket = params.buckets()[i];
    const std::int64_t first = bucket.plan.part_begin(params.part());
    bucket_padding<T>(place, i, bucket.plan,
                      {first, bucket.plan.part_count(params.part()),
                       bucket.gradients.data() + (whole ? first : 0)});
  }
}

template <class T>
void ParamRecords<T>::after_update(int step, Parameters<T>& params, const Optimizer<T>& optimizer) {
  optimizer.visit_state([&](const auto& held) { state(step, params, optimizer, held); });
  values(step, params);
}

template <class T>
template <class S>
void ParamRecords<T>::state(int step, Parameters<T>& params, const Optimizer<T>& optimizer,
                            const OptimizerState<S>& held) {
  using Part = typename OptimizerState<S>::Part;
  constexpr std::array kKinds = {std::pair(Phase::moment1, &Part::moment1),
                                 std::pair(Phase::moment2, &Part::moment2),
                                 std::pair(Phase::master, &Part::master)};
  for (const auto& [phase, kind] : kKinds) {
    for (std::size_t i = 0; held.keeps(kind) && i < params.all().size(); ++i) {
      const Param<T>& param = params.all()[i];
      piece({phase, step, cut_of(params, 1)}, param, own(param, held.at(kind, optimizer.place(i))));
    }
  }
}

template <class T>
void ParamRecords<T>::values(int step, Parameters<T>& params) {
  const Place place{Phase::param, step, cut_of(params, 3)};
  const bool whole = place.cut == Cut::none;
  for (const Param<T>& param : params.all()) {
    piece(place, param,
          whole ? Held<T>{0, param.count(), param.value} : own(param, param.own.value));
  }
  for (std::size_t i = 0; i < params.buckets().size(); ++i) {
    const StoredBucket<T>& bucket = params.buckets()[i];
    bucket_padding<T>(place, i, bucket.plan,
                      {whole ? 0 : bucket.plan.part_begin(params.part()), bucket.values.count(),
                       bucket.values.data()});
  }
}

template <class T>
template <class V>
void ParamRecords<T>::piece(const Place& place, const Param<T>& param, const Held<V>& held) {
  if (!recorder_.wants(place.phase, param.spec.name) ||
      fires("shard_not_saved", place.phase, param)) {
    return;
  }
  const Range range = common(recorded(param.slice), held.first, held.count);
  const std::vector<V> host =
      on_host(held.values + (range.count() > 0 ? range.begin - held.first : 0), range.count());
  const bool replicated = param.slice.shard_dim < 0;
  const char* shared_over =
      place.cut == Cut::none ? (replicated ? "dp,tp" : "dp") : (replicated ? "tp" : "");
  recorder_.record(place.phase, param.spec.name,
                   {place.step, 0, placement(place, param, range.begin, range.end), shared_over},
                   std::span<const V>(host));
  padding(place, param, held);
  copy(place, param, held);
}

/// Of elements [begin, end) of the slice: a range of it, or the rows that they are.
template <class T>
Placement ParamRecords<T>::placement(const Place& place, const Param<T>& param, std::int64_t begin,
                                     std::int64_t end) const {
  if (place.cut == Cut::flat) {
    return FlatPlacement{param.slice.box, begin, end};
  }
  const std::int64_t width = row_width(param.slice);
  Box box = param.slice.box;
  box.start.front() += begin / width;
  box.extent.front() = (end - begin) / width;
  if (fires("shard_saved_as_first", place.phase, param)) {
    box.start.assign(box.start.size(), 0);
  }
  return BoxPlacement{{box}};
}

/// Planted faults of saving strike every shard but the first of one matrix, cut by columns.
template <class T>
bool ParamRecords<T>::fires(std::string_view fault, Phase phase, const Param<T>& param) const {
  return faults_ != nullptr && phase == Phase::param && param.spec.name == "layer0.mlp.up.weight" &&
         param.slice.box.start[1] > 0 && faults_->fires(fault, param.spec.layer);
}

/// Of a slice that several ranks hold, all that this one does: to see that they agree.
template <class T>
template <class V>
void ParamRecords<T>::copy(const Place& place, const Param<T>& param, const Held<V>& held) {
  if (param.slice.copies > 1) {
    local(fmt::format("copy/step{}/{}/{}", place.step, phase_name(place.phase), param.spec.name),
          place.cut == Cut::none ? param.slice.box.extent : std::vector<std::int64_t>{held.count},
          held.values);
  }
}

/// Padding belongs to no record, but must be zero; level all shows it under /local/pad.
template <class T>
template <class V>
void ParamRecords<T>::padding(const Place& place, const Param<T>& param, const Held<V>& held) {
  const Range range = common({param.slice.logical, param.count()}, held.first, held.count);
  if (range.count() > 0) {
    local(fmt::format("pad/step{}/{}/{}", place.step, phase_name(place.phase), param.spec.name),
          {range.count()}, held.values + (range.begin - held.first));
  }
}

/// At a bucket's end, of what this rank holds of the bucket.
template <class T>
template <class V>
void ParamRecords<T>::bucket_padding(const Place& place, std::size_t index, const Bucket& plan,
                                     const Held<V>& held) {
  const Range range = common({plan.filled, plan.count()}, held.first, held.count);
  if (range.count() > 0) {
    local(fmt::format("pad/step{}/{}/bucket{}", place.step, phase_name(place.phase), index),
          {range.count()}, held.values + (range.begin - held.first));
  }
}

template <class T>
template <class V>
void ParamRecords<T>::local(const std::string& path, std::vector<std::int64_t> shape,
                            const V* values) {
  if (recorder_.wants_local()) {
    const std::vector<V> host = on_host(values, element_count(Box{shape, shape}));
    recorder_.record_local(path, std::move(shape), std::vector<double>(host.begin(), host.end()));
  }
}

template <class T>
template <class V>
std::vector<V> ParamRecords<T>::on_host(const V* values, std::int64_t count) {
  std::vector<V> host(static_cast<std::size_t>(count));
  memory_.download(values, host.data(), host.size() * sizeof(V));
  return host;
}

template <class T>
void ParamRecords<T>::number(Phase phase, const std::string& name, int step, double value) {
  recorder_.record(phase, name, {step, 0, BoxPlacement{{Box{{0}, {1}}}}, "dp,tp,pp"},
                   std::span<const double>(&value, 1));
}

template <class T>
void ParamRecords<T>::integers(const std::string& name, int step,
                               const std::vector<std::int64_t>& values) {
  recorder_.record_integers(
      Phase::exact, name,
      {step, 0, BoxPlacement{{Box{{0}, {static_cast<std::int64_t>(values.size())}}}}, "dp,tp,pp"},
      values);
}

template class ParamRecords<double>;
template class ParamRecords<float>;

}  // namespace meshparity
