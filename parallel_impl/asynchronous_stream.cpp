#include "parallel_impl/asynchronous_stream.hpp"

#include <algorithm>
#include <vector>

#include "fixtures/step_place.hpp"

namespace meshparity {

template <class T>
AsynchronousStream<T>::AsynchronousStream(TrainingRank<T>& rank)
    : rank_(rank),
      actions_(planted_versions(rank.actions(), rank.spec().schedule, rank.faults())),
      stash_(rank.params(), rank.backend(), rank.faults(), reads_of(actions_)) {}

template <class T>
void AsynchronousStream<T>::run() {
  rank_.params().clear_gradients();
  for (const Action& action : actions_) {
    rank_.faults().begin_step(step_of(action));
    rank_.log().carry_out({action_name(action.kind), action.chunk, action.mb, version_of(action)},
                          rank_.duration(action), [&] { carry_out(action); });
  }
  rank_.runner().end(false);
  rank_.phase("losses");
  share_losses();
}

/// Of a pass or message that of its micro-batch; reduce and step close the oldest that is open.
template <class T>
int AsynchronousStream<T>::step_of(const Action& action) const {
  if (is_update(action.kind)) {
    return stash_.newest();
  }
  return updates_each_micro_batch(rank_.spec().schedule) ? action.mb
                                                         : action.mb / rank_.spec().micro_batches;
}

/// What the ledger says was used: reduce and step are about the newest.
template <class T>
int AsynchronousStream<T>::version_of(const Action& action) const {
  return is_update(action.kind) ? stash_.newest() : action.version;
}

template <class T>
BatchPlace AsynchronousStream<T>::place_of(const Action& action) const {
  const CaseSpec& spec = rank_.spec();
  const int mb = updates_each_micro_batch(spec.schedule) ? 0 : action.mb % spec.micro_batches;
  return batch_place(rank_.context().model, spec, rank_.context().mesh, step_of(action), mb);
}

template <class T>
void AsynchronousStream<T>::carry_out(const Action& action) {
  if (is_pass(action.kind)) {
    return pass(action);
  }
  const int number = step_of(action);
  if (action.kind == ActionKind::reduce) {
    return reduce(number);
  }
  if (action.kind == ActionKind::step) {
    return update(number);
  }
  rank_.runner().carry_out(action, {place_of(action), 1.0, step(number).loss});
}

template <class T>
void AsynchronousStream<T>::pass(const Action& action) {
  rank_.phase("micro-batches");
  stash_.use(version_read(action, stash_.newest(), rank_.faults()));
  OpenStep& open = step(step_of(action));
  rank_.runner().carry_out(action, {place_of(action), 1.0, open.loss});
  if (action.kind == ActionKind::forward) {
    open.tokens += rank_.runner().counted();
    open.version = action.version;
  }
  plant_stale_start(action);
  stash_.read(action.version);
}

template <class T>
void AsynchronousStream<T>::plant_stale_start(const Action& pass) {
  if (pass.kind == ActionKind::backward && pass.version != stash_.newest() &&
      rank_.faults().fires("update_of_stale_weights")) {
    stale_start_.keep(rank_.params(), rank_.backend());
  }
}

template <class T>
typename AsynchronousStream<T>::OpenStep& AsynchronousStream<T>::step(int number) {
  const auto found = steps_.find(number);
  if (found != steps_.end()) {
    return found->second;
  }
  OpenStep open{LossSum(rank_.spec(), rank_.context().mesh, rank_.faults())};
  open.loss.begin_step();
  return steps_.emplace(number, std::move(open)).first->second;
}

/// Over the replicas of this stage: their tokens, then their gradients.
template <class T>
void AsynchronousStream<T>::reduce(int number) {
  rank_.phase("gradients");
  OpenStep& open = step(number);
  const RankContext& context = rank_.context();
  context.comm.all_reduce(context.mesh.group({Axis::dp}), std::span(&open.tokens, 1), ReduceOp::sum,
                          Site{-1, "tokens", "scalar", number, 0});
  open.loss.set_tokens(open.tokens);
  rank_.update().reduce(number);
}

template <class T>
void AsynchronousStream<T>::update(int number) {
  rank_.phase("update");
  const OpenStep& open = step(number);
  stash_.begin_update();
  stale_start_.put(rank_.params(), rank_.backend());
  rank_.update().update_alone(number, static_cast<double>(open.loss.divisor()));
  rank_.update().records().number(Phase::scalar, "token_count", number,
                                  static_cast<double>(open.tokens));
  rank_.context().recorder.record_integers(
      Phase::exact, "version", {number, 0, BoxPlacement{{Box{{rank_.stage()}, {1}}}}, "dp,tp"},
      std::vector<std::int64_t>{open.version});
  rank_.params().clear_gradients();
}

/// Only the stage with the head has them so far; the others need them for nothing but the records.
template <class T>
void AsynchronousStream<T>::share_losses() {
  std::vector<std::int64_t> all;
  for (auto& [number, open] : steps_) {
    const std::span<std::int64_t> own = open.loss.mergeable();
    all.insert(all.end(), own.begin(), own.end());
  }
  const RankContext& context = rank_.context();
  context.comm.all_reduce(context.mesh.group({Axis::dp, Axis::pp}), std::span(all), ReduceOp::sum,
                          Site{-1, "loss", "scalar", steps_.rbegin()->first, 0});
  auto next = all.begin();
  for (auto& [number, open] : steps_) {
    const std::span<std::int64_t> own = open.loss.mergeable();
    std::copy_n(next, own.size(), own.begin());
    next += static_cast<std::ptrdiff_t>(own.size());
    rank_.update().records().number(Phase::loss, "loss", number, open.loss.loss());
  }
}

template class AsynchronousStream<double>;
template class AsynchronousStream<float>;

}  // namespace meshparity
