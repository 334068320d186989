#include "parallel_impl/probe.hpp"

#include "parallel_impl/model/value_gather.hpp"
#include "parallel_impl/optimizer/gradient_sums.hpp"
#include "parallel_impl/optimizer/gradients.hpp"
#include "parallel_impl/optimizer/optimizer.hpp"
#include "parallel_impl/optimizer/param_records.hpp"
#include "parallel_impl/pipeline/stages.hpp"
#include "parallel_impl/planted_source.hpp"

namespace meshparity {
namespace {

constexpr int kDigitBits = 16;

/// One probed step of a rank: indices in, indices out.
template <class T>
class ProbeStep {
 public:
  ProbeStep(const RankContext& context, Backend<T>& backend, int step)
      : context_(context),
        backend_(backend),
        step_(step),
        stages_(context.spec, context.model),
        params_(context.model, context.mesh, planted_source(index_source(step), context), backend,
                {chunks_here(stages_, context.model, context.mesh.index(Axis::pp)),
                 bucket_rules(context.spec)}),
        sums_({context.spec, context.mesh, context.comm, backend, context.recorder, context.faults},
              params_),
        values_({context.spec, context.mesh, context.comm, backend, context.faults}, params_),
        gradients_({context.mesh,
                    context.comm,
                    backend,
                    context.recorder,
                    context.faults,
                    context.spec.sequence_parallel,
                    {}},
                   params_),
        optimizer_(context.spec, context.model, backend, params_),
        records_(context.recorder, backend, &context.faults) {}

  void run() {
    const std::vector<int> chunks = stages_.chunks_of(context_.mesh.index(Axis::pp));
    for (const int chunk : chunks) {
      sums_.begin(chunk, 0);
      contribute(stages_.pieces_of(chunk));
    }
    for (const int chunk : chunks) {
      sums_.complete(chunk, step_, 0);
    }
    sums_.reduce(step_);
    gradients_.sum_over_tp(step_);
    records_.gradients(step_, params_);
    optimizer_.show_parameters(&context_.faults);
    forget_parts_of_others();
    values_.share(step_);
    records_.after_update(step_, params_, optimizer_);
  }

 private:
  void contribute(const PieceRange& pieces) {
    for (int piece = pieces.first; pieces.holds(piece); ++piece) {
      values_.gather(piece, {"forward", step_, 0});
      for (Param<T>& param : params_.all()) {
        if (piece_of(param.spec, context_.model) == piece) {
          backend_.run(Copy<T>{param.value, param.grad, param.count()});
        }
      }
      values_.release(piece);
    }
  }

  /// What an update leaves to be gathered; else nobody would see that it was not.
  void forget_parts_of_others() {
    const int stage = params_.rules().stage;
    for (StoredBucket<T>& bucket : params_.buckets()) {
      if ((stage == 1 || stage == 2) && bucket.values.count() > 0) {
        const std::int64_t begin = bucket.plan.part_begin(params_.part());
        const std::int64_t end = bucket.plan.part_end(params_.part());
        T* const values = bucket.values.data();
        backend_.clear(values, static_cast<std::size_t>(begin) * sizeof(T));
        backend_.clear(values + end,
                       static_cast<std::size_t>(bucket.values.count() - end) * sizeof(T));
      }
    }
  }

  const RankContext& context_;
  Backend<T>& backend_;
  int step_;
  Stages stages_;
  Parameters<T> params_;
  GradientSums<T> sums_;
  ValueGather<T> values_;
  Gradients<T> gradients_;
  Optimizer<T> optimizer_;
  ParamRecords<T> records_;
};

}  // namespace

ParamSource index_source(int step) {
  return [step](const std::vector<ParamSpec>&, std::size_t, std::int64_t first,
                std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(first) + i;
      const bool beyond = step * kDigitBits >= 64;
      out[i] = beyond ? 0 : static_cast<double>((index >> (step * kDigitBits)) & 0xFFFFU);
    }
  };
}

template <class T>
void probe_in(const RankContext& context) {
  const std::unique_ptr<Backend<T>> backend = context.backends.template make<T>();
  for (int step = 0; step < context.spec.steps; ++step) {
    if (context.board != nullptr) {
      context.board->set_phase(context.mesh.rank(), "probe");
      context.board->beat(context.mesh.rank());
    }
    ProbeStep<T>(context, *backend, step).run();
  }
}

template void probe_in<double>(const RankContext& context);
template void probe_in<float>(const RankContext& context);

}  // namespace meshparity
