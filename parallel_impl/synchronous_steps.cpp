#include "parallel_impl/synchronous_steps.hpp"

#include "parallel_impl/pipeline/planted_actions.hpp"

namespace meshparity {

template <class T>
SynchronousSteps<T>::SynchronousSteps(TrainingRank<T>& rank)
    : rank_(rank),
      loss_(rank.spec(), rank.context().mesh, rank.faults()),
      actions_(rank.actions()) {}

template <class T>
void SynchronousSteps<T>::run() {
  for (int step = 0; step < rank_.spec().steps; ++step) {
    run_step(step);
  }
}

template <class T>
void SynchronousSteps<T>::run_step(int step) {
  step_ = step;
  version_ = static_cast<int>(rank_.update().steps_taken());
  is_summed_ = false;
  rank_.faults().begin_step(step);
  rank_.phase("micro-batches");
  rank_.params().clear_gradients();
  loss_.begin_step();
  rank_.activation_records().set_loss_scale(rank_.update().loss_scale(),
                                            is_skipped(rank_.spec(), step));
  rank_.log().begin_step();
  const Schedule schedule = rank_.spec().schedule;
  const ActionList actions = planted_actions(actions_, schedule, rank_.faults());
  for (const Action& action : actions) {
    if (sums_before(actions, action, schedule, rank_.faults())) {
      rank_.log().carry_out({action_name(ActionKind::reduce), -1, -1, version_}, 0,
                            [&] { sum_gradients(); });
    }
    rank_.log().carry_out({action_name(action.kind), action.chunk, action.mb, version_},
                          rank_.duration(action), [&] { carry_out(action); });
  }
  rank_.runner().end(actions.size() < actions_.size());
}

template <class T>
void SynchronousSteps<T>::carry_out(const Action& action) {
  if (action.kind == ActionKind::reduce) {
    rank_.phase("gradients");
    reduce_loss();
    if (!is_summed_) {
      sum_gradients();
    }
    return;
  }
  if (action.kind == ActionKind::step) {
    rank_.phase("update");
    return rank_.update().update(step_, static_cast<double>(loss_.divisor()));
  }
  const RankContext& context = rank_.context();
  rank_.runner().carry_out(
      action, {batch_place(context.model, context.spec, context.mesh, step_, action.mb),
               rank_.update().loss_scale(), loss_});
}

template <class T>
void SynchronousSteps<T>::sum_gradients() {
  rank_.update().reduce(step_);
  is_summed_ = true;
}

/// All ranks have the same sums then.
template <class T>
void SynchronousSteps<T>::reduce_loss() {
  ParamRecords<T>& records = rank_.update().records();
  loss_.reduce(rank_.context().comm, step_);
  records.number(Phase::loss, "loss", step_, loss_.loss());
  records.number(Phase::scalar, "token_count", step_, static_cast<double>(loss_.tokens()));
}

template class SynchronousSteps<double>;
template class SynchronousSteps<float>;

}  // namespace meshparity
