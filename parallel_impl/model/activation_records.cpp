#include "parallel_impl/model/activation_records.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace meshparity {

template <class T>
ActivationRecords<T>::ActivationRecords(const ModelSpec& model, const Mesh& mesh,
                                        Recorder& recorder, Memory& memory)
    : model_(model), mesh_(mesh), recorder_(recorder), memory_(memory) {}

template <class T>
std::span<const T> ActivationRecords<T>::on_host(const Tensor<T>& values) {
  host_.resize(static_cast<std::size_t>(values.count()));
  memory_.download(values.data, host_.data(), host_.size() * sizeof(T));
  return host_;
}

template <class T>
void ActivationRecords<T>::piece(Phase phase, const std::string& name, Box box,
                                 const Tensor<T>& values) {
  assert(values.tp.spread != Spread::partial);
  const char* shared_over = values.tp == rep() ? "tp" : "";
  recorder_.record(phase, name,
                   {place_.step, place_.mb, BoxPlacement{{std::move(box)}}, shared_over},
                   on_host(values));
}

template <class T>
void ActivationRecords<T>::features(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (recorder_.wants(phase, name)) {
    const int first = values.tp == rep() ? 0 : mesh_.index(Axis::tp) * values.columns;
    piece(phase, name,
          {{place_.first_sample, 0, first}, {place_.samples, place_.sequence, values.columns}},
          values);
  }
}

template <class T>
void ActivationRecords<T>::heads(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (recorder_.wants(phase, name)) {
    values.demand(shard(1));
    const int count = values.columns / model_.head_dim;
    piece(phase, name,
          {{place_.first_sample, 0, mesh_.index(Axis::tp) * count, 0},
           {place_.samples, place_.sequence, count, model_.head_dim}},
          values);
  }
}

template <class T>
void ActivationRecords<T>::scores(Phase phase, const std::string& name, const Tensor<T>& values) {
  if (recorder_.wants(phase, name)) {
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
  if (!recorder_.wants(phase, name)) {
    return;
  }
  values.demand(shard(1));
  const std::span<const T> padded = on_host(values);
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
  if (recorder_.wants(phase, name)) {
    values.demand(rep());
    piece(phase, name, {{place_.first_sample, 0}, {place_.samples, place_.sequence}}, values);
  }
}

template <class T>
void ActivationRecords<T>::contribution(const std::string& role, int layer,
                                        const Tensor<T>& values) {
  if (recorder_.wants_local()) {
    values.demand(part());
    const std::span<const T> held = on_host(values);
    recorder_.record_local(
        fmt::format("step{}/{}/contribution/layer{}/mb{}", place_.step, role, layer, place_.mb),
        {values.rows, values.columns}, std::vector<double>(held.begin(), held.end()));
  }
}

template class ActivationRecords<double>;
template class ActivationRecords<float>;

}  // namespace meshparity
