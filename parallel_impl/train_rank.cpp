#include "parallel_impl/train_rank.hpp"

#include "parallel_impl/planted_source.hpp"

namespace meshparity {

template <class T>
TrainingRank<T>::TrainingRank(const RankContext& context)
    : context_(context),
      backend_(context.backends.template make<T>()),
      stages_(context.spec, context.model),
      params_(context.model, context.mesh,
              planted_source(initial_source(context.spec.seed), context), *backend_,
              {chunks_here(stages_, context.model, context.mesh.index(Axis::pp)),
               bucket_rules(context.spec)}),
      activation_records_(context.model, context.mesh, context.recorder, *backend_),
      words_(context.spec, context.model, &context.faults),
      extent_(context.model, context.mesh, context.spec.sequence_parallel,
              batch_place(context.model, context.spec, context.mesh, 0, 0).samples),
      values_({context.spec, context.mesh, context.comm, *backend_, context.faults}, params_),
      work_(context.model, extent_, params_.largest(), *backend_,
            context.spec.recompute == Recompute::selective),
      parts_{context.model,
             context.mesh,
             *backend_,
             context.comm,
             tp_group(),
             kv_group(tp_group(), extent_.kv_copies),
             activation_records_,
             words_,
             context.faults,
             context.board,
             extent_,
             work_,
             1,
             splits_backward(context.spec.schedule),
             context.spec.recompute,
             &values_},
      log_(context.comm.launch()),
      update_({context.spec, context.model, context.mesh, context.comm, *backend_, context.recorder,
               context.faults, tied_stages(stages_, context.model, context.mesh)},
              params_, values_),
      runner_({context.spec, context.inputs, stages_, parts_, params_, context.recorder, log_,
               update_.sums()}) {
  parts_.is_short = context.spec.precision == Precision::bf16;
  if (context.spec.recompute == Recompute::selective) {
    work_.words = words_.buffer(*backend_, MemoryTag::buffer, work_.probs.count());
  }
}

template <class T>
ActionList TrainingRank<T>::actions() const {
  return action_lists(context_.spec, stages_)[static_cast<std::size_t>(stage())];
}

template <class T>
void TrainingRank<T>::phase(std::string_view name) {
  if (context_.board != nullptr) {
    context_.board->set_phase(context_.mesh.rank(), name);
  }
}

template <class T>
std::vector<MemoryRow> TrainingRank<T>::memory() const {
  std::vector<MemoryRow> rows;
  for (int i = 0; i < kMemoryTags; ++i) {
    const auto tag = static_cast<MemoryTag>(i);
    const MemoryUse use = backend_->use(tag);
    rows.push_back(
        {std::string(memory_tag_name(tag)), -1, use.current, use.peak, update_.steps_taken()});
  }
  return rows;
}

template class TrainingRank<double>;
template class TrainingRank<float>;

}  // namespace meshparity
