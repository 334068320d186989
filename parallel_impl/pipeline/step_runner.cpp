#include "parallel_impl/pipeline/step_runner.hpp"

#include <cassert>

#include "parallel_impl/pipeline/planted_actions.hpp"

namespace meshparity {

template <class T>
StepRunner<T>::StepRunner(const Parts& parts)
    : parts_(parts),
      stage_(parts.rank.mesh.index(Axis::pp)),
      pp_(parts.rank.mesh.group({Axis::pp})),
      actions_(action_lists(parts.spec, parts.stages)[static_cast<std::size_t>(stage_)]),
      rotation_(parts.rank.model, parts.rank.backend),
      grad_(parts.rank.backend, MemoryTag::buffer, parts.rank.stream_count()),
      batch_(parts.rank.extent.rows, parts.rank.backend) {
  const double smoothing = parts.spec.smoothing ? parts.rank.model.smoothing : 0.0;
  for (const int chunk : parts.stages.chunks_of(stage_)) {
    models_[chunk] = std::make_unique<Model>(parts.rank, parts.params, rotation_,
                                             parts.stages.pieces_of(chunk), smoothing);
  }
}

template <class T>
bool StepRunner<T>::run(const Step& step, const std::function<void()>& sum_gradients) {
  step_ = step;
  parts_.log.begin_step();
  FaultPlan& faults = parts_.rank.faults;
  const ActionList actions = planted_actions(actions_, parts_.spec.schedule, faults);
  bool is_summed = false;
  for (const Action& action : actions) {
    if (sums_before(actions, action, parts_.spec.schedule, faults)) {
      sum_gradients();
      is_summed = true;
    }
    const int duration = duration_of(action.kind, parts_.rank.splits_backward);
    parts_.log.carry_out({action_name(action.kind), action.chunk, action.mb, step_.version},
                         duration, [&] { carry_out(action); });
  }
  if (actions.size() < actions_.size()) {
    in_flight_.clear();  // of the work that a planted fault left undone
  }
  assert(in_flight_.empty() && inputs_.empty() && output_grads_.empty());
  return is_summed;
}

template <class T>
void StepRunner<T>::carry_out(const Action& action) {
  switch (action.kind) {
    case ActionKind::forward:
      return forward(action.chunk, action.mb);
    case ActionKind::backward:
      return backward(action.chunk, action.mb);
    case ActionKind::weight:
      return weight(action.chunk, action.mb);
    case ActionKind::send_forward:
    case ActionKind::send_backward:
      return send(action);
    case ActionKind::receive_forward:
    case ActionKind::receive_backward:
      return receive(action);
  }
}

template <class T>
bool StepRunner<T>::is_here(int chunk) const {
  return models_.contains(chunk);
}

template <class T>
void StepRunner<T>::load(int mb) {
  const RankParts<T>& rank = parts_.rank;
  if (loaded_ == std::pair(step_.number, mb)) {
    return;
  }
  loaded_ = {step_.number, mb};
  batch_.load(parts_.inputs, batch_place(rank.model, parts_.spec, rank.mesh, step_.number, mb),
              step_.loss_scale, forgets_last_length(mb));
  parts_.rank.grad_divisor = static_cast<T>(parts_.loss.divisor_of(batch_.counted()));
}

/// A planted fault, at the border to a micro-batch that follows.
template <class T>
bool StepRunner<T>::forgets_last_length(int mb) const {
  return mb + 1 < parts_.spec.micro_batches && parts_.rank.faults.fires("border_length_ignored");
}

template <class T>
void StepRunner<T>::forward(int chunk, int mb) {
  load(mb);
  if (chunk == models_.begin()->first) {
    record_samples();
  }
  auto& saved = in_flight_.emplace(Place{chunk, mb}, model(chunk)).first->second;
  if (!model(chunk).has_embedding()) {
    take(inputs_, {chunk, mb}, saved.input);
  }
  outgoing_ = model(chunk).forward(batch_, saved);
  if (model(chunk).has_head()) {
    add_losses(saved);
  } else if (is_here(chunk + 1)) {
    keep(inputs_, {chunk + 1, mb}, outgoing_);
  }
}

template <class T>
void StepRunner<T>::backward(int chunk, int mb) {
  load(mb);
  if (mb > 0 && parts_.rank.faults.fires("accumulator_emptied")) {
    parts_.params.clear_gradients();
  }
  if (!model(chunk).has_head()) {
    take(output_grads_, {chunk, mb}, grad_);
  }
  Tensor<T> grad = gradient();
  parts_.sums.begin(chunk, mb);
  model(chunk).backward(batch_, grad, in_flight_.at({chunk, mb}));
  if (chunk > 0 && is_here(chunk - 1)) {
    keep(output_grads_, {chunk - 1, mb}, grad);
  }
  if (!parts_.rank.splits_backward) {
    parts_.sums.complete(chunk, step_.number, mb);
    in_flight_.erase({chunk, mb});
  }
}

template <class T>
void StepRunner<T>::weight(int chunk, int mb) {
  load(mb);
  parts_.rank.records.begin(batch_.place());
  parts_.sums.begin(chunk, mb);
  model(chunk).weight_backward(batch_.place(), in_flight_.at({chunk, mb}));
  parts_.sums.complete(chunk, step_.number, mb);
  in_flight_.erase({chunk, mb});
}

template <class T>
typename StepRunner<T>::Message StepRunner<T>::message_of(const Action& action) const {
  const bool sends =
      action.kind == ActionKind::send_forward || action.kind == ActionKind::send_backward;
  const bool onward =
      action.kind == ActionKind::send_forward || action.kind == ActionKind::receive_forward;
  const int other = sends == onward ? action.chunk + 1 : action.chunk - 1;
  return {onward, parts_.stages.stage_of(other),
          Site{-1, onward ? "pp.activation" : "pp.gradient", onward ? "forward" : "backward",
               step_.number, action.mb}};
}

template <class T>
void StepRunner<T>::send(const Action& action) {
  const Message message = message_of(action);
  const Tensor<T> values = message.onward ? outgoing_ : gradient();
  parts_.rank.comm.send(pp_, message.peer, std::span<const T>(values.span()), parts_.log.now(),
                        message.site);
}

template <class T>
void StepRunner<T>::receive(const Action& action) {
  const Message message = message_of(action);
  Buffer<T> values(parts_.rank.backend, MemoryTag::buffer, parts_.rank.stream_count());
  const std::span<T> room(values.data(), static_cast<std::size_t>(values.count()));
  parts_.log.arrived(parts_.rank.comm.receive(pp_, message.peer, room, message.site));
  (message.onward ? inputs_ : output_grads_)
      .emplace(Place{action.chunk, action.mb}, std::move(values));
}

template <class T>
void StepRunner<T>::keep(std::map<Place, Buffer<T>>& arrived, Place place,
                         const Tensor<T>& values) {
  Buffer<T> kept(parts_.rank.backend, MemoryTag::buffer, values.count());
  parts_.rank.backend.run(Copy<T>{values.data, kept.data(), values.count()});
  arrived.emplace(place, std::move(kept));
}

template <class T>
void StepRunner<T>::take(std::map<Place, Buffer<T>>& arrived, Place place, Buffer<T>& into) {
  const auto found = arrived.find(place);
  assert(found != arrived.end());
  parts_.rank.backend.run(
      Copy<T>{found->second.data(), into.data(), static_cast<int>(into.count())});
  arrived.erase(found);
}

template <class T>
void StepRunner<T>::record_samples() {
  const BatchPlace& here = batch_.place();
  std::vector<std::int64_t> ids;
  for (int j = 0; j < here.samples; ++j) {
    ids.push_back(parts_.inputs.sample_id(here.step, here.first_sample + j));
  }
  parts_.recorder.record_integers(
      Phase::exact, "sample_ids",
      {here.step, here.mb, BoxPlacement{{Box{{here.first_sample}, {here.samples}}}}, "tp,pp"}, ids);
}

template <class T>
void StepRunner<T>::add_losses(const typename Model::Saved& saved) {
  host_losses_.resize(static_cast<std::size_t>(parts_.rank.extent.rows));
  parts_.rank.backend.download(saved.head->loss.loss.data(), host_losses_.data(),
                               host_losses_.size() * sizeof(T));
  parts_.loss.add(std::span<const T>(host_losses_), batch_.counted());
}

template class StepRunner<double>;
template class StepRunner<float>;

}  // namespace meshparity
