#include "parallel_impl/optimizer/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel_impl/model/rank_parts.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"
#include "parallel_impl/optimizer/planted_gradients.hpp"

namespace meshparity {
namespace {

template <class T>
std::span<T> own_elements(const Param<T>& param) {
  return {param.own.grad, static_cast<std::size_t>(param.own.count)};
}

/// Without vocabulary padding.
template <class T>
std::vector<T> logical_on_host(const Param<T>& param, Memory& memory) {
  const int count = std::clamp(param.slice.logical - param.own.first, 0, param.own.count);
  std::vector<T> held(static_cast<std::size_t>(count));
  memory.download(param.own.grad, held.data(), held.size() * sizeof(T));
  return held;
}

CommGroup owners_in(const Mesh& mesh, int zero_stage) {
  const bool pipeline = mesh.degree(Axis::pp) > 1;
  if (zero_stage > 0) {
    return pipeline ? mesh.group({Axis::dp, Axis::tp, Axis::pp}) : mesh.group({Axis::dp, Axis::tp});
  }
  return pipeline ? mesh.group({Axis::tp, Axis::pp}) : mesh.group({Axis::tp});
}

/// Ranks that hold the same key head; the same for all key and value weights.
template <class T>
int most_copies(Parameters<T>& params) {
  int copies = 1;
  for (const Param<T>& param : params.all()) {
    copies = std::max(copies, param.slice.copies);
  }
  return copies;
}

}  // namespace

template <class T>
Gradients<T>::Gradients(const Parts& parts, Parameters<T>& params)
    : parts_(parts),
      params_(params),
      tp_(parts.mesh.group({Axis::tp})),
      kv_(kv_group(tp_, most_copies(params))),
      owners_(owners_in(parts.mesh, params.rules().stage)) {}

template <class T>
bool Gradients<T>::is_partial(const Param<T>& param) const {
  return param.slice.use == WholeUse::local_heads ||
         (param.slice.use == WholeUse::stream_rows && parts_.sequence_parallel);
}

template <class T>
void Gradients<T>::sum_over_tp(int step) {
  std::vector<Param<T>*> copied, partial;
  for (Param<T>& param : params_.all()) {
    if (param.slice.copies > 1) {
      copied.push_back(&param);
    }
    if (is_partial(param)) {
      partial.push_back(&param);
    }
  }
  sum_together(copied, kv_, Site{-1, "grad.kv", "grad", step, 0});
  const char* role = parts_.sequence_parallel ? "grad.sp" : "grad.tp";
  sum_together(partial, tp_, Site{-1, role, "grad", step, 0});
}

template <class T>
void Gradients<T>::sum_together(const std::vector<Param<T>*>& params, const CommGroup& group,
                                const Site& site) {
  if (params.empty() || group.size() == 1) {
    return;
  }
  std::int64_t count = 0;
  for (const Param<T>* param : params) {
    count += param->own.count;
  }
  if (count == 0) {
    return;  // these ranks own nothing of them
  }
  Buffer<T> joined(parts_.backend, MemoryTag::buffer, count);
  T* next = joined.data();
  for (const Param<T>* param : params) {
    parts_.backend.run(Copy<T>{param->own.grad, next, param->own.count});
    next += param->own.count;
  }
  parts_.comm.all_reduce(group, std::span<T>(joined.data(), static_cast<std::size_t>(count)),
                         ReduceOp::sum, site);
  next = joined.data();
  for (Param<T>* param : params) {
    parts_.backend.run(Copy<T>{next, param->own.grad, param->own.count});
    next += param->own.count;
  }
}

template <class T>
void Gradients<T>::tie(int step) {
  for (Param<T>& head : params_.all()) {
    if (head.shares_value) {
      Param<T>& embedding = params_.at(head.spec.tied_to);
      parts_.backend.run(AddInto<T>{head.own.grad, embedding.own.grad, head.own.count});
      parts_.backend.run(Copy<T>{embedding.own.grad, head.own.grad, head.own.count});
    }
  }
  if (parts_.tied.size() == 2) {
    Param<T>& here = params_.at(parts_.tied.index == 0 ? "embed.weight" : "head.weight");
    if (here.own.count > 0) {
      parts_.comm.all_reduce(parts_.tied, own_elements(here), ReduceOp::sum,
                             Site{-1, "grad.tied", "grad", step, 0});
    }
  }
}

template <class T>
void Gradients<T>::divide_by(double count) {
  if (count == 0) {
    params_.clear_gradients();
    return;
  }
  for (const Param<T>& param : params_.all()) {
    // A count is exact in every precision, its reciprocal is not.
    parts_.backend.run(Divide<T>{param.own.grad, param.own.count, static_cast<T>(count)});
  }
}

template <class T>
bool Gradients<T>::found_infinity(int step) {
  std::int64_t found = 0;
  for (const Param<T>& param : params_.all()) {
    for (const T value : logical_on_host(param, parts_.backend)) {
      found = std::isfinite(value) ? found : 1;
    }
  }
  parts_.comm.all_reduce(owners_, std::span(&found, 1), ReduceOp::max,
                         Site{-1, "found_inf", "scalar", step, 0});
  return found != 0;
}

template <class T>
bool Gradients<T>::counts_here(const Param<T>& param) const {
  const bool holds_it_first = param.slice.shard_dim >= 0 ? param.slice.copy == 0 : tp_.index == 0;
  return !param.is_tied() &&
         (holds_it_first || parts_.faults.fires("norm_counts_every_copy", param.spec.layer) ||
          (params_.rules().stage > 0 &&
           parts_.faults.fires("part_norm_over_tp", param.spec.layer)));
}

/// Elements that pad this rank's parts, where a planted fault has them be 1 and counted.
template <class T>
std::int64_t Gradients<T>::planted_padding() {
  std::int64_t count = 0;
  for (const StoredBucket<T>& bucket : params_.buckets()) {
    const int part = params_.part();
    count += bucket.plan.part_count(part) - bucket.plan.filled_count(part);
  }
  return count > 0 && parts_.faults.fires("norm_counts_padding") ? count : 0;
}

template <class T>
double Gradients<T>::norm(int step) {
  const bool is_plain = parts_.faults.fires("norm_of_plain_sums");
  PlainNorm plain(owners_);
  ExactSum squares;
  for (const Param<T>& param : params_.all()) {
    if (counts_here(param)) {
      for (const T value : logical_on_host(param, parts_.backend)) {
        const auto wide = static_cast<double>(value);
        is_plain ? plain.add(wide * wide) : squares.add(wide * wide);
      }
    }
  }
  for (std::int64_t i = planted_padding(); i > 0; --i) {
    squares.add(1.0);
  }
  const Site site{-1, "norm", "scalar", step, 0};
  if (is_plain) {
    return plain.norm(parts_.comm, site);
  }
  parts_.comm.all_reduce(owners_, squares.mergeable(), ReduceOp::sum, site);
  const double norm = std::sqrt(squares.value());
  const bool narrow = parts_.faults.fires("norm_in_float");
  return narrow ? static_cast<double>(static_cast<float>(norm)) : norm;
}

double clip_coefficient(double limit, double norm) {
  const double coefficient = limit / (norm + 1e-6);
  return coefficient < 1.0 ? coefficient : std::isnan(coefficient) ? coefficient : 1.0;
}

template class Gradients<double>;
template class Gradients<float>;

}  // namespace meshparity
