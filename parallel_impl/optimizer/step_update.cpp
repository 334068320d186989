#include "parallel_impl/optimizer/step_update.hpp"

#include "fixtures/step_place.hpp"

namespace meshparity {

template <class T>
StepUpdate<T>::StepUpdate(const Parts& parts, Parameters<T>& params, ValueGather<T>& values)
    : parts_(parts),
      params_(params),
      sums_({parts.spec, parts.mesh, parts.comm, parts.backend, parts.recorder, parts.faults},
            params),
      values_(values),
      gradients_({parts.mesh, parts.comm, parts.backend, parts.recorder, parts.faults,
                  parts.spec.sequence_parallel, parts.tied},
                 params),
      optimizer_(parts.spec, parts.model, parts.backend, params),
      records_(parts.recorder, parts.backend, &parts.faults),
      scale_(parts.spec) {}

template <class T>
void StepUpdate<T>::reduce(int step) {
  sums_.reduce(step);
  gradients_.sum_over_tp(step);
}

template <class T>
void StepUpdate<T>::update(int step, double loss_divisor) {
  const bool skipped = scale_.is_used() && gradients_.found_infinity(step);
  record_scale(step, skipped);
  if (!skipped) {
    finish_gradients(step, loss_divisor);
    clip_and_step(step);
  }
  record_update(step);
  scale_.after(skipped);
}

template <class T>
void StepUpdate<T>::update_alone(int step, double loss_divisor) {
  finish_gradients(step, loss_divisor);
  optimizer_.step(1.0, &parts_.faults);
  record_update(step);
}

template <class T>
void StepUpdate<T>::record_scale(int step, bool skipped) {
  if (scale_.is_used()) {
    records_.number(Phase::scalar, "loss_scale", step, scale_.value());
    records_.number(Phase::scalar, "found_inf", step, skipped ? 1 : 0);
  }
}

/// What planted faults divide gradients by beside what is due; 1 without any.
template <class T>
double StepUpdate<T>::planted_divisor() const {
  FaultPlan& faults = parts_.faults;
  const Mesh& mesh = parts_.mesh;
  double divisor = faults.fires("dp_mean_too") ? mesh.degree(Axis::dp) : 1;
  divisor *= faults.fires("mb_mean_too") ? parts_.spec.micro_batches : 1;
  divisor *=
      parts_.spec.sequence_parallel && faults.fires("sp_mean_too") ? mesh.degree(Axis::tp) : 1;
  return faults.fires("loss_scale_kept") ? divisor / scale_.value() : divisor;
}

template <class T>
void StepUpdate<T>::finish_gradients(int step, double loss_divisor) {
  gradients_.divide_by(loss_divisor * scale_.value() * planted_divisor());
  records_.gradients(step, params_);
  if (!parts_.faults.fires("tied_gradient_lost")) {
    gradients_.tie(step);
  }
}

template <class T>
void StepUpdate<T>::clip_and_step(int step) {
  const double norm = gradients_.norm(step);
  const double coefficient = clip(step, norm);
  records_.number(Phase::scalar, "grad_norm", step, norm);
  records_.number(Phase::scalar, "clip_coef", step, coefficient);
  optimizer_.step(coefficient, &parts_.faults);
  values_.share(step);
}

template <class T>
double StepUpdate<T>::clip(int step, double norm) {
  if (parts_.spec.clip == ClipMode::off) {
    return 1.0;
  }
  const bool near = parts_.spec.clip == ClipMode::near;
  const double limit = near ? parts_.model.clip_near : parts_.model.clip;
  records_.number(Phase::margin, "clip", step, norm - limit);
  return clip_coefficient(limit, norm);
}

template <class T>
void StepUpdate<T>::record_update(int step) {
  records_.number(Phase::scalar, "lr", step, optimizer_.learning_rate());
  records_.after_update(step, params_, optimizer_);
  records_.integers("step_count", step, {optimizer_.steps_taken()});
  records_.integers(
      "rng_key", step,
      {static_cast<std::int64_t>(parts_.spec.seed), batch_of_step(parts_.spec, step)});
}

template class StepUpdate<double>;
template class StepUpdate<float>;

}  // namespace meshparity
