#include "parallel_impl/train.hpp"

#include "fixtures/error.hpp"
#include "parallel_impl/loss_sum.hpp"
#include "parallel_impl/optimizer/step_update.hpp"
#include "parallel_impl/pipeline/step_runner.hpp"
#include "parallel_impl/planted_source.hpp"
#include "parallel_impl/probe.hpp"

namespace meshparity {
namespace {

/// All that one rank keeps during a case.
template <class T>
class Training {
 public:
  explicit Training(const RankContext& context)
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
        loss_(context.spec, context.mesh, context.faults),
        log_(context.comm.launch()),
        update_(
            {context.spec, context.model, context.mesh, context.comm, *backend_, context.recorder,
             context.faults, tied_stages(stages_, context.model, context.mesh)},
            params_, values_),
        runner_({context.spec, context.inputs, stages_, parts_, params_, context.recorder, loss_,
                 log_, update_.sums()}) {
    parts_.is_short = context.spec.precision == Precision::bf16;
    if (context.spec.recompute == Recompute::selective) {
      work_.words = words_.buffer(*backend_, MemoryTag::buffer, work_.probs.count());
    }
  }

  void step(int step) {
    context_.faults.begin_step(step);
    phase("micro-batches");
    params_.clear_gradients();
    loss_.begin_step();
    activation_records_.set_loss_scale(update_.loss_scale(), is_skipped(context_.spec, step));
    const int version = static_cast<int>(update_.steps_taken());
    const ActionLog::What reduce{"reduce", -1, 0, version};
    const bool is_summed = runner_.run({step, update_.loss_scale(), version}, [&] {
      log_.carry_out(reduce, 0, [&] { update_.reduce(step); });
    });
    phase("gradients");
    log_.carry_out(reduce, 0, [&] {
      reduce_loss(step);
      if (!is_summed) {
        update_.reduce(step);
      }
    });
    phase("update");
    log_.carry_out({"step", -1, 0, version}, 0,
                   [&] { update_.update(step, static_cast<double>(loss_.divisor())); });
  }

  const std::vector<ActionRow>& actions() const { return log_.rows(); }

  /// What this rank's allocator counted, a row a tag.
  std::vector<MemoryRow> memory() const {
    std::vector<MemoryRow> rows;
    for (int i = 0; i < kMemoryTags; ++i) {
      const auto tag = static_cast<MemoryTag>(i);
      const MemoryUse use = backend_->use(tag);
      rows.push_back(
          {std::string(memory_tag_name(tag)), -1, use.current, use.peak, update_.steps_taken()});
    }
    return rows;
  }

 private:
  CommGroup tp_group() const { return context_.mesh.group({Axis::tp}); }
  void phase(std::string_view name) {
    if (context_.board != nullptr) {
      context_.board->set_phase(context_.mesh.rank(), name);
    }
  }

  /// All ranks have the same sums then.
  void reduce_loss(int step) {
    loss_.reduce(context_.comm, step);
    update_.records().number(Phase::loss, "loss", step, loss_.loss());
    update_.records().number(Phase::scalar, "token_count", step,
                             static_cast<double>(loss_.tokens()));
  }

  const RankContext& context_;
  std::unique_ptr<Backend<T>> backend_;
  Stages stages_;
  Parameters<T> params_;
  ActivationRecords<T> activation_records_;
  KeepWords words_;
  LocalExtent extent_;
  ValueGather<T> values_;
  Workspace<T> work_;
  RankParts<T> parts_;
  LossSum loss_;
  ActionLog log_;
  StepUpdate<T> update_;
  StepRunner<T> runner_;
};

template <class T>
void train_in(const RankContext& context) {
  if (is_probe(context.spec)) {
    return probe_in<T>(context);
  }
  Training<T> training(context);
  for (int step = 0; step < context.spec.steps; ++step) {
    training.step(step);
  }
  if (context.memory != nullptr) {
    *context.memory = training.memory();
  }
  if (context.actions != nullptr) {
    *context.actions = training.actions();
  }
}

}  // namespace

void train(const RankContext& context) {
  switch (context.spec.precision) {
    case Precision::fp64:
      return train_in<double>(context);
    case Precision::fp32:
    case Precision::bf16:
      return train_in<float>(context);
    case Precision::tf32:
      throw NotBuiltYet("precision tf32: only machines with CUDA have it");
  }
}

}  // namespace meshparity
