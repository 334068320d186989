#include "parallel_impl/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fixtures/error.hpp"
#include "parallel_impl/model/stage_model.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"
#include "parallel_impl/optimizer/step_update.hpp"
#include "parallel_impl/planted_source.hpp"
#include "parallel_impl/probe.hpp"

namespace meshparity {
namespace {

/// All that one rank keeps during a case; allocated here, before the first step.
template <class T>
class Training {
 public:
  explicit Training(const RankContext& context)
      : context_(context),
        backend_(context.backends.template make<T>()),
        params_(context.model, context.mesh,
                planted_source(initial_source(context.spec.seed), context), *backend_,
                {single_chunk(), bucket_rules(context.spec)}),
        activation_records_(context.model, context.mesh, context.recorder, *backend_),
        words_(context.spec, context.model, &context.faults),
        extent_(context.model, context.mesh, context.spec.sequence_parallel, place(0, 0).samples),
        work_(context.model, extent_, params_.largest(), *backend_),
        parts_{context.model,       context.mesh, *backend_,
               context.comm,        tp_group(),   kv_group(tp_group(), extent_.kv_copies),
               activation_records_, words_,       context.faults,
               context.board,       extent_,      work_},
        model_(parts_, params_, context.spec.smoothing ? context.model.smoothing : 0.0),
        saved_(model_),
        batch_(extent_.rows, *backend_),
        update_({context.spec,
                 context.model,
                 context.mesh,
                 context.comm,
                 *backend_,
                 context.recorder,
                 context.faults,
                 {}},
                params_) {}

  void step(int step) {
    context_.faults.begin_step(step);
    mean_of_means_ = context_.spec.loss_mode != LossMode::tokenmean ||
                     context_.faults.fires("mean_of_micro_batches");
    phase("micro-batches");
    params_.clear_gradients();
    loss_ = ExactSum();
    tokens_ = 0;
    for (int mb = 0; mb < context_.spec.micro_batches; ++mb) {
      micro_batch(step, mb);
    }
    phase("gradients");
    reduce_loss(step);
    update_.reduce(step);
    phase("update");
    update_.update(step, static_cast<double>(loss_divisor()));
  }

  /// What this rank's allocator counted, a row a tag.
  std::vector<MemoryRow> memory() const {
    std::vector<MemoryRow> rows;
    for (int i = 0; i < kMemoryTags; ++i) {
      const auto tag = static_cast<MemoryTag>(i);
      const MemoryUse use = backend_->use(tag);
      rows.push_back(
          {std::string(memory_tag_name(tag)), 0, use.current, use.peak, update_.steps_taken()});
    }
    return rows;
  }

 private:
  CommGroup tp_group() const { return context_.mesh.group({Axis::tp}); }
  BatchPlace place(int step, int mb) const {
    return batch_place(context_.model, context_.spec, context_.mesh, step, mb);
  }
  void phase(std::string_view name) {
    if (context_.board != nullptr) {
      context_.board->set_phase(context_.mesh.rank(), name);
    }
  }

  void micro_batch(int step, int mb) {
    batch_.load(context_.inputs, place(step, mb), update_.loss_scale(), forgets_last_length(mb));
    activation_records_.set_loss_scale(update_.loss_scale(), is_skipped(context_.spec, step));
    record_samples();
    model_.forward(batch_, saved_);
    add_losses();
    parts_.grad_divisor = static_cast<T>(tokens_of_mean());
    if (mb > 0 && context_.faults.fires("accumulator_emptied")) {
      params_.clear_gradients();
    }
    update_.sums().begin(0, mb);
    model_.backward(batch_, saved_);
    update_.sums().complete(0, step, mb);
  }

  /// A planted fault, at the border to a micro-batch that follows.
  bool forgets_last_length(int mb) const {
    return mb + 1 < context_.spec.micro_batches && context_.faults.fires("border_length_ignored");
  }

  void record_samples() {
    const BatchPlace& here = batch_.place();
    std::vector<std::int64_t> ids;
    for (int j = 0; j < here.samples; ++j) {
      ids.push_back(context_.inputs.sample_id(here.step, here.first_sample + j));
    }
    context_.recorder.record_integers(
        Phase::exact, "sample_ids",
        {here.step, here.mb, BoxPlacement{{Box{{here.first_sample}, {here.samples}}}}, "tp"}, ids);
  }

  void add_losses() {
    std::vector<T>& losses = host_losses_;
    losses.resize(static_cast<std::size_t>(extent_.rows));
    backend_->download(saved_.loss.loss.data(), losses.data(), losses.size() * sizeof(T));
    ExactSum sum;
    for (const T loss : losses) {
      (is_mean_of_means() ? sum : loss_).add(static_cast<double>(loss));
    }
    if (is_mean_of_means()) {
      loss_.add(sum.value() / static_cast<double>(tokens_of_mean()));
    }
    tokens_ += batch_.counted();
  }

  /// Both modes of means of means agree while no sequence is divided (algorithms.md §4.8).
  bool is_mean_of_means() const { return mean_of_means_; }
  /// Of this micro-batch's own mean; one without tokens has loss and gradients 0.
  std::int64_t tokens_of_mean() const {
    return is_mean_of_means() ? std::max<std::int64_t>(1, batch_.counted()) : 1;
  }
  /// What the sum of losses is divided by: the step's tokens, or how many means there are.
  std::int64_t loss_divisor() const {
    return is_mean_of_means() ? context_.mesh.degree(Axis::dp) * context_.spec.micro_batches
                              : tokens_;
  }

  /// Tokens and losses over all data-parallel ranks, in one sum of integers.
  void reduce_loss(int step) {
    const std::span<std::int64_t> limbs = loss_.mergeable();
    std::vector<std::int64_t> sums(limbs.begin(), limbs.end());
    sums.push_back(tokens_);
    context_.comm.all_reduce(context_.mesh.group({Axis::dp}), std::span(sums), ReduceOp::sum,
                             Site{-1, "tokens", "scalar", step, 0});
    tokens_ = sums.back();
    std::copy(sums.begin(), sums.end() - 1, limbs.begin());
    const double loss = tokens_ == 0 ? 0.0 : loss_.value() / static_cast<double>(loss_divisor());
    update_.records().number(Phase::loss, "loss", step, loss);
    update_.records().number(Phase::scalar, "token_count", step, static_cast<double>(tokens_));
  }

  const RankContext& context_;
  std::unique_ptr<Backend<T>> backend_;
  Parameters<T> params_;
  ActivationRecords<T> activation_records_;
  KeepWords words_;
  LocalExtent extent_;
  Workspace<T> work_;
  RankParts<T> parts_;
  StageModel<T> model_;
  typename StageModel<T>::Saved saved_;
  MicroBatch<T> batch_;
  StepUpdate<T> update_;
  bool mean_of_means_ = false;
  std::vector<T> host_losses_;
  ExactSum loss_;
  std::int64_t tokens_ = 0;
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
}

}  // namespace

void train(const RankContext& context) {
  switch (context.spec.precision) {
    case Precision::fp64:
      return train_in<double>(context);
    case Precision::fp32:
      return train_in<float>(context);
    default:
      throw NotBuiltYet(fmt::format("precision {}: only fp64 and fp32 are built",
                                    precision_name(context.spec.precision)));
  }
}

}  // namespace meshparity
