#include "parallel_impl/pipeline/action_runner.hpp"

#include <cassert>

namespace meshparity {

template <class T>
ActionRunner<T>::ActionRunner(const Parts& parts)
    : parts_(parts),
      pp_(parts.rank.mesh.group({Axis::pp})),
      rotation_(parts.rank.model, parts.rank.backend),
      grad_(parts.rank.backend, MemoryTag::buffer, parts.rank.stream_count()),
      batch_(parts.rank.extent.rows, parts.rank.backend) {
  const double smoothing = parts.spec.smoothing ? parts.rank.model.smoothing : 0.0;
  for (const int chunk : parts.stages.chunks_of(parts.rank.mesh.index(Axis::pp))) {
    models_[chunk] = std::make_unique<Model>(parts.rank, parts.params, rotation_,
                                             parts.stages.pieces_of(chunk), smoothing);
  }
}

template <class T>
void ActionRunner<T>::carry_out(const Action& action, const Work& work) {
  switch (action.kind) {
    case ActionKind::forward:
      return forward(action, work);
    case ActionKind::backward:
      return backward(action, work);
    case ActionKind::weight:
      return weight(action, work);
    case ActionKind::send_forward:
    case ActionKind::send_backward:
      return send(action, work.place);
    case ActionKind::receive_forward:
    case ActionKind::receive_backward:
      return receive(action, work.place);
    case ActionKind::reduce:
    case ActionKind::step:
      assert(false);
  }
}

template <class T>
void ActionRunner<T>::end(bool forgets) {
  if (forgets) {
    in_flight_.clear();
  }
  assert(in_flight_.empty() && inputs_.empty() && output_grads_.empty());
}

template <class T>
void ActionRunner<T>::load(const Action& action, const Work& work) {
  if (loaded_ == work.place) {
    return;
  }
  loaded_ = work.place;
  batch_.load(parts_.inputs, work.place, work.loss_scale, forgets_last_length(action.mb));
  parts_.rank.grad_divisor = static_cast<T>(work.loss.divisor_of(batch_.counted()));
}

/// A planted fault, at the border to a micro-batch that follows.
template <class T>
bool ActionRunner<T>::forgets_last_length(int mb) const {
  const int in_batch = mb % parts_.spec.micro_batches;
  return in_batch + 1 < parts_.spec.micro_batches &&
         parts_.rank.faults.fires("border_length_ignored");
}

template <class T>
void ActionRunner<T>::forward(const Action& action, const Work& work) {
  const auto [kind, chunk, mb, version] = action;
  load(action, work);
  if (chunk == models_.begin()->first) {
    record_samples();
  }
  auto& saved = in_flight_.emplace(Place{chunk, mb}, model(chunk)).first->second;
  if (!model(chunk).has_embedding()) {
    take(inputs_, {chunk, mb}, saved.input);
  }
  outgoing_ = model(chunk).forward(batch_, saved);
  if (model(chunk).has_head()) {
    add_losses(saved, work.loss);
  } else if (is_here(chunk + 1)) {
    keep(inputs_, {chunk + 1, mb}, outgoing_);
  }
}

template <class T>
void ActionRunner<T>::backward(const Action& action, const Work& work) {
  const auto [kind, chunk, mb, version] = action;
  load(action, work);
  if (work.place.mb > 0 && parts_.rank.faults.fires("accumulator_emptied")) {
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
    parts_.sums.complete(chunk, work.place.step, mb);
    in_flight_.erase({chunk, mb});
  }
}

template <class T>
void ActionRunner<T>::weight(const Action& action, const Work& work) {
  const auto [kind, chunk, mb, version] = action;
  load(action, work);
  parts_.rank.records.begin(batch_.place());
  parts_.sums.begin(chunk, mb);
  model(chunk).weight_backward(batch_.place(), in_flight_.at({chunk, mb}));
  parts_.sums.complete(chunk, work.place.step, mb);
  in_flight_.erase({chunk, mb});
}

template <class T>
typename ActionRunner<T>::Message ActionRunner<T>::message_of(const Action& action,
                                                              const BatchPlace& place) const {
  const bool sends =
      action.kind == ActionKind::send_forward || action.kind == ActionKind::send_backward;
  const bool onward =
      action.kind == ActionKind::send_forward || action.kind == ActionKind::receive_forward;
  const int other = sends == onward ? action.chunk + 1 : action.chunk - 1;
  return {onward, parts_.stages.stage_of(other),
          Site{-1, onward ? "pp.activation" : "pp.gradient", onward ? "forward" : "backward",
               place.step, place.mb}};
}

template <class T>
void ActionRunner<T>::send(const Action& action, const BatchPlace& place) {
  const Message message = message_of(action, place);
  const Tensor<T> values = message.onward ? outgoing_ : gradient();
  parts_.rank.comm.send(pp_, message.peer, std::span<const T>(values.span()), parts_.log.now(),
                        message.site);
}

template <class T>
void ActionRunner<T>::receive(const Action& action, const BatchPlace& place) {
  const Message message = message_of(action, place);
  Buffer<T> values(parts_.rank.backend, MemoryTag::buffer, parts_.rank.stream_count());
  const std::span<T> room(values.data(), static_cast<std::size_t>(values.count()));
  parts_.log.arrived(parts_.rank.comm.receive(pp_, message.peer, room, message.site));
  (message.onward ? inputs_ : output_grads_)
      .emplace(Place{action.chunk, action.mb}, std::move(values));
}

template <class T>
void ActionRunner<T>::keep(std::map<Place, Buffer<T>>& arrived, Place place,
                           const Tensor<T>& values) {
  Buffer<T> kept(parts_.rank.backend, MemoryTag::buffer, values.count());
  parts_.rank.backend.run(Copy<T>{values.data, kept.data(), values.count()});
  arrived.emplace(place, std::move(kept));
}

template <class T>
void ActionRunner<T>::take(std::map<Place, Buffer<T>>& arrived, Place place, Buffer<T>& into) {
  const auto found = arrived.find(place);
  assert(found != arrived.end());
  parts_.rank.backend.run(
      Copy<T>{found->second.data(), into.data(), static_cast<int>(into.count())});
  arrived.erase(found);
}

template <class T>
void ActionRunner<T>::record_samples() {
  const BatchPlace& here = batch_.place();
  std::vector<std::int64_t> ids;
  for (int j = 0; j < here.samples; ++j) {
    ids.push_back(parts_.inputs.sample_id(here.batch, here.first_in_batch + j));
  }
  parts_.recorder.record_integers(
      Phase::exact, "sample_ids",
      {here.step, here.mb, BoxPlacement{{Box{{here.first_sample}, {here.samples}}}}, "tp,pp"}, ids);
}

template <class T>
void ActionRunner<T>::add_losses(const typename Model::Saved& saved, LossSum& loss) {
  host_losses_.resize(static_cast<std::size_t>(parts_.rank.extent.rows));
  parts_.rank.backend.download(saved.head->loss.loss.data(), host_losses_.data(),
                               host_losses_.size() * sizeof(T));
  loss.add(std::span<const T>(host_losses_), batch_.counted());
}

template class ActionRunner<double>;
template class ActionRunner<float>;

}  // namespace meshparity
