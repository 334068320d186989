#include "parallel_impl/optimizer/param_records.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    bucket_padding(place, i, bucket.plan,
                   {first, bucket.plan.part_count(params.part()),
                    bucket.gradients.data() + (whole ? first : 0)});
  }
}

template <class T>
void ParamRecords<T>::after_update(int step, Parameters<T>& params, const Optimizer<T>& optimizer) {
  const Cut cut = cut_of(params, 1);
  const Cut value_cut = cut_of(params, 3);
  for (std::size_t index = 0; index < params.all().size(); ++index) {
    const Param<T>& param = params.all()[index];
    if (const T* const moment = optimizer.moment1(index)) {
      piece({Phase::moment1, step, cut}, param, own(param, moment));
    }
    if (const T* const moment = optimizer.moment2(index)) {
      piece({Phase::moment2, step, cut}, param, own(param, moment));
    }
    piece({Phase::param, step, value_cut}, param,
          value_cut == Cut::none ? whole(param, param.value) : own(param, param.own.value));
  }
  for (std::size_t i = 0; i < params.buckets().size(); ++i) {
    const StoredBucket<T>& bucket = params.buckets()[i];
    const std::int64_t first = bucket.plan.part_begin(params.part());
    const auto moment = [&](Phase phase, const Buffer<T>& values) {
      bucket_padding({phase, step, cut}, i, bucket.plan, {first, values.count(), values.data()});
    };
    moment(Phase::moment1, optimizer.bucket_moment1(i));
    moment(Phase::moment2, optimizer.bucket_moment2(i));
    bucket_padding(
        {Phase::param, step, value_cut}, i, bucket.plan,
        {value_cut == Cut::none ? 0 : first, bucket.values.count(), bucket.values.data()});
  }
}

template <class T>
void ParamRecords<T>::piece(const Place& place, const Param<T>& param, const Held& held) {
  if (!recorder_.wants(place.phase, param.spec.name) ||
      fires("shard_not_saved", place.phase, param)) {
    return;
  }
  place.cut == Cut::flat ? flat(place, param, held) : box(place, param, held);
  padding(place, param, held);
  copy(place, param, held);
}

/// Whole rows: all of the slice, or those that are the rank's own.
template <class T>
void ParamRecords<T>::box(const Place& place, const Param<T>& param, const Held& held) {
  const Range range = common(recorded(param.slice), held.first, held.count);
  const std::int64_t width = row_width(param.slice);
  Box box = param.slice.box;
  box.start.front() += range.begin / width;
  box.extent.front() = range.count() / width;
  if (fires("shard_saved_as_first", place.phase, param)) {
    box.start.assign(box.start.size(), 0);
  }
  write(place, param, BoxPlacement{{box}}, held.values + (range.begin - held.first));
}

template <class T>
void ParamRecords<T>::flat(const Place& place, const Param<T>& param, const Held& held) {
  const Range range = common(recorded(param.slice), held.first, held.count);
  write(place, param, FlatPlacement{param.slice.box, range.begin, range.end},
        held.values + (range.count() > 0 ? range.begin - held.first : 0));
}

template <class T>
void ParamRecords<T>::write(const Place& place, const Param<T>& param, Placement placement,
                            const T* values) {
  host_.resize(static_cast<std::size_t>(element_count(placement)));
  memory_.download(values, host_.data(), host_.size() * sizeof(T));
  const bool replicated = param.slice.shard_dim < 0;
  const char* shared_over =
      place.cut == Cut::none ? (replicated ? "dp,tp" : "dp") : (replicated ? "tp" : "");
  recorder_.record(place.phase, param.spec.name, {place.step, 0, std::move(placement), shared_over},
                   std::span<const T>(host_));
}

/// Planted faults of saving strike every shard but the first of one matrix, cut by columns.
template <class T>
bool ParamRecords<T>::fires(std::string_view fault, Phase phase, const Param<T>& param) const {
  return faults_ != nullptr && phase == Phase::param && param.spec.name == "layer0.mlp.up.weight" &&
         param.slice.box.start[1] > 0 && faults_->fires(fault, param.spec.layer);
}

/// Of a slice that several ranks hold, all that this one does: to see that they agree.
template <class T>
void ParamRecords<T>::copy(const Place& place, const Param<T>& param, const Held& held) {
  if (param.slice.copies > 1) {
    local(fmt::format("copy/step{}/{}/{}", place.step, phase_name(place.phase), param.spec.name),
          place.cut == Cut::none ? param.slice.box.extent : std::vector<std::int64_t>{held.count},
          held.values);
  }
}

/// Padding belongs to no record, but must be zero; level all shows it under /local/pad.
template <class T>
void ParamRecords<T>::padding(const Place& place, const Param<T>& param, const Held& held) {
  const Range range = common({param.slice.logical, param.count()}, held.first, held.count);
  if (range.count() > 0) {
    local(fmt::format("pad/step{}/{}/{}", place.step, phase_name(place.phase), param.spec.name),
          {range.count()}, held.values + (range.begin - held.first));
  }
}

/// At a bucket's end, of what this rank holds of the bucket.
template <class T>
void ParamRecords<T>::bucket_padding(const Place& place, std::size_t index, const Bucket& plan,
                                     const Held& held) {
  const Range range = common({plan.filled, plan.count()}, held.first, held.count);
  if (range.count() > 0) {
    local(fmt::format("pad/step{}/{}/bucket{}", place.step, phase_name(place.phase), index),
          {range.count()}, held.values + (range.begin - held.first));
  }
}

template <class T>
void ParamRecords<T>::local(const std::string& path, std::vector<std::int64_t> shape,
                            const T* values) {
  if (recorder_.wants_local()) {
    host_.resize(static_cast<std::size_t>(element_count(Box{shape, shape})));
    memory_.download(values, host_.data(), host_.size() * sizeof(T));
    recorder_.record_local(path, std::move(shape), std::vector<double>(host_.begin(), host_.end()));
  }
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
