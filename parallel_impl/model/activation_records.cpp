#include "parallel_impl/model/activation_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace meshparity {
namespace {

Box box_of(std::int64_t sample, std::int64_t position, std::int64_t samples, std::int64_t positions,
           const Box& of_a_row) {
  Box box = {{sample, position}, {samples, positions}};
  box.start.insert(box.start.end(), of_a_row.start.begin(), of_a_row.start.end());
  box.extent.insert(box.extent.end(), of_a_row.extent.begin(), of_a_row.extent.end());
  return box;
}

}  // namespace

std::vector<Box> row_boxes(const BatchPlace& place, RowRange rows, const Box& of_a_row) {
  std::vector<Box> boxes;
  int next = rows.first;
  const int end = rows.first + rows.count;
  while (next < end) {
    const int position = next % place.sequence;
    const int samples = position == 0 ? (end - next) / place.sequence : 0;
    const int positions =
        samples > 0 ? place.sequence : std::min(place.sequence - position, end - next);
    boxes.push_back(box_of(place.first_sample + next / place.sequence, position,
                           std::max(samples, 1), positions, of_a_row));
    next += std::max(samples, 1) * positions;
  }
  if (boxes.empty()) {
    boxes.push_back(box_of(place.first_sample, 0, 0, 0, of_a_row));
  }
  return boxes;
}

template <class T>
ActivationRecords<T>::ActivationRecords(const ModelSpec& model, const Mesh& mesh,
                                        Recorder& recorder, Memory& memory)
    : model_(model), mesh_(mesh), recorder_(recorder), memory_(memory) {}

template <class T>
std::span<const T> ActivationRecords<T>::on_host(Phase phase, const Tensor<T>& values) {
  host_.resize(static_cast<std::size_t>(values.count()));
  memory_.download(values.data, host_.data(), host_.size() * sizeof(T));
  if (phase == Phase::backward && loss_scale_ != 1) {
    for (T& value : host_) {
      value = value / static_cast<T>(loss_scale_);  // a power of two: exact
    }
  }
  return host_;
}

template <class T>
void ActivationRecords<T>::piece(Phase phase, const std::string& name, Box box,
                                 const Tensor<T>& values) {
  assert(values.tp.spread != Spread::partial);
  const char* shared_over = values.tp == rep() ? "tp" : "";
  recorder_.record(phase, name,
                   {place_.step, place_.mb, BoxPlacement{{std::move(box)}}, shared_over},
                   on_host(phase, values));
}

template <class T>
void ActivationRecords<T>::rows_piece(Phase phase, const std::string& name, RowRange rows,
                                      const Box& of_a_row, std::span<const T> values) {
  recorder_.record(phase, name,
                   {place_.step, place_.mb, BoxPlacement{row_boxes(place_, rows, of_a_row)}, ""},
                   values);
}

template <class T>
void ActivationRecords<T>::features(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (!wants(phase, name)) {
    return;
  }
  if (values.tp == shard(0)) {
    const RowRange rows = row_share(place_.rows(), mesh_.degree(Axis::tp), mesh_.index(Axis::tp));
    rows_piece(phase, name, rows, {{0}, {model_.hidden}}, on_host(phase, values));
  } else {
    const int first = values.tp == rep() ? 0 : mesh_.index(Axis::tp) * values.columns;
    piece(phase, name,
          {{place_.first_sample, 0, first}, {place_.samples, place_.sequence, values.columns}},
          values);
  }
}

template <class T>
void ActivationRecords<T>::heads(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (wants(phase, name)) {
    values.demand(shard(1));
    const int count = values.columns / model_.head_dim;
    piece(phase, name,
          {{place_.first_sample, 0, mesh_.index(Axis::tp) * count, 0},
           {place_.samples, place_.sequence, count, model_.head_dim}},
          values);
  }
}

template <class T>
void ActivationRecords<T>::kv_heads(Phase phase, const std::string& name, const Tensor<T>& values,
                                    int copies) {
  if (!wants(phase, name)) {
    return;
  }
  values.demand(shard(1));
  const int tp_index = mesh_.index(Axis::tp);
  const int count = values.columns / model_.head_dim;
  const RowRange rows = row_share(values.rows, copies, tp_index % copies);
  const auto width = static_cast<std::size_t>(values.columns);
  rows_piece(phase, name, rows, {{tp_index / copies * count, 0}, {count, model_.head_dim}},
             on_host(phase, values)
                 .subspan(static_cast<std::size_t>(rows.first) * width,
                          static_cast<std::size_t>(rows.count) * width));
}

template <class T>
void ActivationRecords<T>::scores(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (wants(phase, name)) {
    values.demand(shard(0));
    const int count = values.rows / place_.rows();
    piece(phase, name,
          {{place_.first_sample, mesh_.index(Axis::tp) * count, 0, 0},
           {place_.samples, count, place_.sequence, place_.sequence}},
          values);
  }
}

template <class T>
void ActivationRecords<T>::vocabulary(Phase phase, const std::string& name, const Tensor<T>& values,
                                      const VocabularySlice& slice) {
  if (!wants(phase, name)) {
    return;
  }
  values.demand(shard(1));
  const std::span<const T> padded = on_host(phase, values);
  const auto logical = static_cast<std::size_t>(slice.logical);
  std::vector<T> packed;
  packed.reserve(logical * static_cast<std::size_t>(values.rows));
  for (std::size_t row = 0; row < static_cast<std::size_t>(values.rows); ++row) {
    const std::span<const T> from =
        padded.subspan(row * static_cast<std::size_t>(slice.width), logical);
    packed.insert(packed.end(), from.begin(), from.end());
  }
  const std::int64_t first = std::min(slice.first, slice.global);
  Box box = {{place_.first_sample, 0, first}, {place_.samples, place_.sequence, slice.logical}};
  recorder_.record(phase, name, {place_.step, place_.mb, BoxPlacement{{std::move(box)}}, ""},
                   std::span<const T>(packed));
}

template <class T>
void ActivationRecords<T>::tokens(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (wants(phase, name)) {
    values.demand(rep());
    piece(phase, name, {{place_.first_sample, 0}, {place_.samples, place_.sequence}}, values);
  }
}

template <class T>
void ActivationRecords<T>::contribution(const std::string& role, int layer,
                                        const Tensor<T>& values) {
  if (recorder_.wants_local() && !is_silent_) {
    values.demand(part());
    const std::span<const T> held = on_host(Phase::forward, values);
    recorder_.record_local(
        fmt::format("step{}/{}/contribution/layer{}/mb{}", place_.step, role, layer, place_.mb),
        {values.rows, values.columns}, std::vector<double>(held.begin(), held.end()));
  }
}

template class ActivationRecords<double>;
template class ActivationRecords<float>;

}  // namespace meshparity
