#include "parallel_impl/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "parallel_impl/optimizer/planted_update.hpp"

namespace meshparity {
namespace {

template <class T>
std::size_t index_of(Parameters<T>& params, std::string_view name) {
  return static_cast<std::size_t>(&params.at(name) - params.all().data());
}

}  // namespace

template <class T>
Optimizer<T>::Optimizer(const CaseSpec& spec, const ModelSpec& model, Backend<T>& backend,
                        Parameters<T>& params)
    : kind_(spec.optimizer), model_(model), backend_(backend), params_(params) {
  const bool has_first = kind_ != OptimizerKind::sgd;
  const bool has_second = kind_ == OptimizerKind::adamw;
  bucket_of_.resize(params.all().size());
  for (std::size_t i = 0; i < params.buckets().size(); ++i) {
    const StoredBucket<T>& bucket = params.buckets()[i];
    for (const Bucket::Entry& entry : bucket.plan.entries) {
      const Param<T>& param = params.all()[entry.item];
      bucket_of_[entry.item] =
          param.shares_value ? bucket_of_[index_of(params, param.spec.tied_to)] : i;
    }
    const std::int64_t count =
        bucket.values.count() > 0 ? bucket.plan.part_count(params.part()) : 0;
    moment1_.emplace_back(backend, MemoryTag::optimizer, has_first ? count : 0);
    moment2_.emplace_back(backend, MemoryTag::optimizer, has_second ? count : 0);
  }
}

template <class T>
const T* Optimizer<T>::at(const std::vector<Buffer<T>>& moments, std::size_t index) const {
  const Buffer<T>& moment = moments[bucket_of_[index]];
  return moment.count() > 0 ? moment.data() + params_.all()[index].own.place : nullptr;
}

template <class T>
T* Optimizer<T>::at(std::vector<Buffer<T>>& moments, std::size_t index) const {
  Buffer<T>& moment = moments[bucket_of_[index]];
  return moment.count() > 0 ? moment.data() + params_.all()[index].own.place : nullptr;
}

template <class T>
double Optimizer<T>::learning_rate() const {
  return kind_ == OptimizerKind::adamw ? model_.learning_rate : model_.sgd_learning_rate;
}

template <class T>
void Optimizer<T>::step(double clip, FaultPlan* faults) {
  ++steps_taken_;
  for (std::size_t index = 0; index < params_.all().size(); ++index) {
    Param<T>& param = params_.all()[index];
    if (param.shares_value) {
      continue;
    }
    switch (kind_) {
      case OptimizerKind::adamw:
        adamw(index, clip, faults);
        break;
      case OptimizerKind::sgd:
        sgd(param, clip);
        break;
      case OptimizerKind::momentum:
        momentum(index, clip);
        break;
    }
  }
}

template <class T>
void Optimizer<T>::show_parameters(FaultPlan* faults) {
  for (std::size_t index = 0; index < params_.all().size(); ++index) {
    const Param<T>& param = params_.all()[index];
    if (param.shares_value) {
      continue;
    }
    const bool is_later_shard =
        param.slice.shard_dim >= 0 &&
        param.slice.box.start[static_cast<std::size_t>(param.slice.shard_dim)] > 0;
    const bool late = is_later_shard && faults != nullptr && faults->fires("moment_shard_late");
    show_parameter(index, moment1_, false);
    show_parameter(index, moment2_, late);
  }
}

/// `late`: from the second element of the slice on, a planted fault.
template <class T>
void Optimizer<T>::show_parameter(std::size_t index, std::vector<Buffer<T>>& moments, bool late) {
  const OwnPart<T>& own = params_.all()[index].own;
  T* const moment = at(moments, index);
  const int first = late ? 1 : 0;
  if (moment != nullptr) {
    backend_.run(Copy<T>{own.value + first, moment, std::max(0, own.count - first)});
  }
}

template <class T>
AdamW<T> Optimizer<T>::adamw_kernel(std::size_t index, double clip) {
  Param<T>& param = params_.all()[index];
  const auto steps = static_cast<double>(steps_taken_);
  AdamW<T> kernel;
  kernel.theta = param.own.value;
  kernel.grad = param.own.grad;
  kernel.moment1 = at(moment1_, index);
  kernel.moment2 = at(moment2_, index);
  kernel.count = param.own.count;
  kernel.decays = param.spec.decay;
  kernel.clip = clip;
  kernel.learning_rate = static_cast<T>(learning_rate());
  kernel.beta1 = static_cast<T>(model_.beta1);
  kernel.beta2 = static_cast<T>(model_.beta2);
  kernel.epsilon = static_cast<T>(model_.adam_epsilon);
  kernel.weight_decay = static_cast<T>(model_.weight_decay);
  kernel.correction1 = static_cast<T>(1.0 - std::pow(model_.beta1, steps));
  kernel.correction2 = static_cast<T>(1.0 - std::pow(model_.beta2, steps));
  return kernel;
}

template <class T>
void Optimizer<T>::adamw(std::size_t index, double clip, FaultPlan* faults) {
  const AdamW<T> kernel = adamw_kernel(index, clip);
  if (faults != nullptr) {
    run_planted(kernel, *faults, backend_, params_.all()[index].spec.layer);
  } else {
    backend_.run(kernel);
  }
}

template <class T>
void Optimizer<T>::sgd(Param<T>& param, double clip) {
  backend_.run(Sgd<T>{param.own.value, param.own.grad, param.own.count, clip,
                      static_cast<T>(learning_rate())});
}

template <class T>
void Optimizer<T>::momentum(std::size_t index, double clip) {
  Param<T>& param = params_.all()[index];
  backend_.run(Momentum<T>{param.own.value, param.own.grad, at(moment1_, index), param.own.count,
                           clip, static_cast<T>(learning_rate()), static_cast<T>(model_.momentum)});
}

template class Optimizer<double>;
template class Optimizer<float>;

}  // namespace meshparity
