#include "parallel_impl/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "parallel_impl/optimizer/planted_update.hpp"

namespace meshparity {
namespace {

template <class S>
using Part = typename OptimizerState<S>::Part;

std::vector<StatePlace> places_of(auto& params) {
  std::vector<StatePlace> places(params.all().size());
  for (std::size_t i = 0; i < params.buckets().size(); ++i) {
    for (const Bucket::Entry& entry : params.buckets()[i].plan.entries) {
      const auto& param = params.all()[entry.item];
      if (param.shares_value) {
        places[entry.item] =
            places[static_cast<std::size_t>(&params.at(param.spec.tied_to) - params.all().data())];
      } else {
        places[entry.item] = {i, param.own.place};
      }
    }
  }
  return places;
}

}  // namespace

template <class T>
Optimizer<T>::Optimizer(const CaseSpec& spec, const ModelSpec& model, Backend<T>& backend,
                        Parameters<T>& params)
    : kind_(spec.optimizer),
      has_masters_(spec.master64),
      is_short_(spec.precision == Precision::bf16),
      model_(model),
      backend_(backend),
      params_(params),
      places_(places_of(params)) {
  has_masters_ ? allocate(wide_) : allocate(plain_);
  if (has_masters_ || is_short_) {
    begin_masters();
  }
}

/// The masters take the initial values, of which short weights keep what bfloat16 holds.
template <class T>
void Optimizer<T>::begin_masters() {
  for (std::size_t index = 0; index < params_.all().size(); ++index) {
    const Param<T>& param = params_.all()[index];
    if (param.shares_value) {
      continue;
    }
    const OwnPart<T>& own = param.own;
    has_masters_ ? put(own.value, wide_.at(&Part<double>::master, places_[index]), own.count)
                 : put(own.value, plain_.at(&Part<T>::master, places_[index]), own.count);
    if (is_short_) {
      backend_.run(RoundedCopy<T>{own.value, own.value, own.count});
      const int whole = param.value == nullptr ? 0 : param.count();
      backend_.run(RoundedCopy<T>{param.value, param.value, whole});
    }
  }
}

template <class T>
template <class S>
void Optimizer<T>::allocate(OptimizerState<S>& state) {
  if (has_masters_ || is_short_) {
    state.kinds.push_back(&Part<S>::master);
  }
  if (kind_ != OptimizerKind::sgd) {
    state.kinds.push_back(&Part<S>::moment1);
  }
  if (kind_ == OptimizerKind::adamw) {
    state.kinds.push_back(&Part<S>::moment2);
  }
  for (const StoredBucket<T>& bucket : params_.buckets()) {
    const std::int64_t count =
        bucket.values.count() > 0 ? bucket.plan.filled_count(params_.part()) : 0;
    Part<S>& part = state.parts.emplace_back();
    for (const auto kind : state.kinds) {
      part.*kind = Buffer<S>(backend_, MemoryTag::optimizer, count);
    }
  }
}

/// Through the host: at the beginning and for probes only.
template <class T>
template <class S>
void Optimizer<T>::put(const T* from, S* to, int count) {
  std::vector<T> held(static_cast<std::size_t>(count));
  backend_.download(from, held.data(), held.size() * sizeof(T));
  const std::vector<S> converted(held.begin(), held.end());
  backend_.upload(converted.data(), to, converted.size() * sizeof(S));
}

template <class T>
double Optimizer<T>::learning_rate() const {
  return kind_ == OptimizerKind::adamw ? model_.learning_rate : model_.sgd_learning_rate;
}

template <class T>
void Optimizer<T>::step(double clip, FaultPlan* faults) {
  ++steps_taken_;
  for (std::size_t index = 0; index < params_.all().size(); ++index) {
    if (params_.all()[index].shares_value) {
      continue;
    }
    update(index, clip, faults);
    if (is_short_ && !has_masters_) {
      const OwnPart<T>& own = params_.all()[index].own;
      backend_.run(RoundedCopy<T>{theta(index), own.value, own.count});
    }
  }
}

/// What is updated in T: the parameter itself, or its master.
template <class T>
T* Optimizer<T>::theta(std::size_t index) {
  return is_short_ ? plain_.at(&Part<T>::master, places_[index]) : params_.all()[index].own.value;
}

template <class T>
void Optimizer<T>::update(std::size_t index, double clip, FaultPlan* faults) {
  switch (kind_) {
    case OptimizerKind::adamw:
      return adamw(index, clip, faults);
    case OptimizerKind::sgd:
      return sgd(index, clip);
    case OptimizerKind::momentum:
      return momentum(index, clip);
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
    has_masters_ ? show(index, wide_, late) : show(index, plain_, late);
  }
}

/// `late`: the second moment from the second element of the slice on, a planted fault.
template <class T>
template <class S>
void Optimizer<T>::show(std::size_t index, OptimizerState<S>& state, bool late) {
  const OwnPart<T>& own = params_.all()[index].own;
  for (const auto kind : state.kinds) {
    const int first = late && kind == &Part<S>::moment2 ? 1 : 0;
    put(own.value + first, state.at(kind, places_[index]), std::max(0, own.count - first));
  }
}

/// Without the places of parameter and gradient.
template <class T>
template <class S>
AdamW<S> Optimizer<T>::adamw_rule(std::size_t index, OptimizerState<S>& state, double clip) const {
  const Param<T>& param = params_.all()[index];
  const auto steps = static_cast<double>(steps_taken_);
  AdamW<S> rule{};
  rule.moment1 = state.at(&Part<S>::moment1, places_[index]);
  rule.moment2 = state.at(&Part<S>::moment2, places_[index]);
  rule.count = param.own.count;
  rule.decays = param.spec.decay;
  rule.clip = clip;
  rule.learning_rate = static_cast<S>(learning_rate());
  rule.beta1 = static_cast<S>(model_.beta1);
  rule.beta2 = static_cast<S>(model_.beta2);
  rule.epsilon = static_cast<S>(model_.adam_epsilon);
  rule.weight_decay = static_cast<S>(model_.weight_decay);
  rule.correction1 = static_cast<S>(1.0 - std::pow(model_.beta1, steps));
  rule.correction2 = static_cast<S>(1.0 - std::pow(model_.beta2, steps));
  return rule;
}

template <class T>
void Optimizer<T>::adamw(std::size_t index, double clip, FaultPlan* faults) {
  const Param<T>& param = params_.all()[index];
  if (has_masters_) {
    AdamW<double> rule = adamw_rule(index, wide_, clip);
    rule.theta = wide_.at(&Part<double>::master, places_[index]);
    if (faults != nullptr && faults->fires("copy_updated", param.spec.layer)) {
      put(param.own.value, rule.theta, param.own.count);
    }
    return backend_.run(MasterAdamW<T>{rule, param.own.grad, {param.own.value, is_short_}});
  }
  AdamW<T> kernel = adamw_rule(index, plain_, clip);
  kernel.theta = theta(index);
  kernel.grad = param.own.grad;
  if (faults != nullptr) {
    run_planted(kernel, *faults, backend_, param.spec.layer);
  } else {
    backend_.run(kernel);
  }
}

template <class T>
void Optimizer<T>::sgd(std::size_t index, double clip) {
  const OwnPart<T>& own = params_.all()[index].own;
  if (has_masters_) {
    double* const master = wide_.at(&Part<double>::master, places_[index]);
    return backend_.run(MasterSgd<T>{
        {master, nullptr, own.count, clip, learning_rate()}, own.grad, {own.value, is_short_}});
  }
  backend_.run(Sgd<T>{theta(index), own.grad, own.count, clip, static_cast<T>(learning_rate())});
}

template <class T>
void Optimizer<T>::momentum(std::size_t index, double clip) {
  const OwnPart<T>& own = params_.all()[index].own;
  if (has_masters_) {
    double* const master = wide_.at(&Part<double>::master, places_[index]);
    double* const moment = wide_.at(&Part<double>::moment1, places_[index]);
    return backend_.run(MasterMomentum<T>{
        {master, nullptr, moment, own.count, clip, learning_rate(), model_.momentum},
        own.grad,
        {own.value, is_short_}});
  }
  backend_.run(Momentum<T>{theta(index), own.grad, plain_.at(&Part<T>::moment1, places_[index]),
                           own.count, clip, static_cast<T>(learning_rate()),
                           static_cast<T>(model_.momentum)});
}

template class Optimizer<double>;
template class Optimizer<float>;

}  // namespace meshparity
