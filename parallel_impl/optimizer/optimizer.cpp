#include "parallel_impl/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "parallel_impl/optimizer/planted_update.hpp"

namespace meshparity {

template <class T>
Optimizer<T>::Optimizer(const CaseSpec& spec, const ModelSpec& model, Backend<T>& backend,
                        Parameters<T>& params)
    : kind_(spec.optimizer), model_(model), backend_(backend), params_(params) {
  const bool has_first = kind_ != OptimizerKind::sgd;
  const bool has_second = kind_ == OptimizerKind::adamw;
  std::vector<Param<T>>& all = params.all();
  for (std::size_t index = 0; index < all.size(); ++index) {
    const Param<T>& param = all[index];
    const std::int64_t count = param.shares_value ? 0 : param.count();
    source_.push_back(param.shares_value
                          ? static_cast<std::size_t>(&params.at(param.spec.tied_to) - all.data())
                          : index);
    moment1_.emplace_back(backend, MemoryTag::optimizer, has_first ? count : 0);
    moment2_.emplace_back(backend, MemoryTag::optimizer, has_second ? count : 0);
  }
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
    const bool is_later_shard =
        param.slice.shard_dim >= 0 &&
        param.slice.box.start[static_cast<std::size_t>(param.slice.shard_dim)] > 0;
    const bool late = is_later_shard && faults != nullptr && faults->fires("moment_shard_late");
    show_parameter(index, moment1_[index], false);
    show_parameter(index, moment2_[index], late);
  }
}

/// `late`: from the second element of the slice on, a planted fault.
template <class T>
void Optimizer<T>::show_parameter(std::size_t index, Buffer<T>& moment, bool late) {
  const int first = late ? 1 : 0;
  const int count = std::max(0, static_cast<int>(moment.count()) - first);
  backend_.run(Copy<T>{params_.all()[index].value + first, moment.data(), count});
}

template <class T>
AdamW<T> Optimizer<T>::adamw_kernel(std::size_t index, double clip) {
  Param<T>& param = params_.all()[index];
  const auto steps = static_cast<double>(steps_taken_);
  AdamW<T> kernel;
  kernel.theta = param.value;
  kernel.grad = param.grad;
  kernel.moment1 = moment1_[index].data();
  kernel.moment2 = moment2_[index].data();
  kernel.count = param.count();
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
  backend_.run(
      Sgd<T>{param.value, param.grad, param.count(), clip, static_cast<T>(learning_rate())});
}

template <class T>
void Optimizer<T>::momentum(std::size_t index, double clip) {
  Param<T>& param = params_.all()[index];
  backend_.run(Momentum<T>{param.value, param.grad, moment1_[index].data(), param.count(), clip,
                           static_cast<T>(learning_rate()), static_cast<T>(model_.momentum)});
}

template class Optimizer<double>;
template class Optimizer<float>;

}  // namespace meshparity
