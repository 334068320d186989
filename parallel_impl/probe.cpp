#include "parallel_impl/probe.hpp"

#include "parallel_impl/backend/host_backend.hpp"
#include "parallel_impl/optimizer/gradients.hpp"
#include "parallel_impl/optimizer/optimizer.hpp"
#include "parallel_impl/optimizer/param_records.hpp"
#include "parallel_impl/planted_source.hpp"

namespace meshparity {
namespace {

constexpr int kDigitBits = 16;

template <class T>
void contribute(Parameters<T>& params, Backend<T>& backend) {
  for (Param<T>& param : params.all()) {
    backend.run(Copy<T>{param.value, param.grad, param.count()});
  }
}

template <class T>
void probe_step(const RankContext& context, Backend<T>& backend, int step) {
  Parameters<T> params(context.model, context.mesh, planted_source(index_source(step), context),
                       backend);
  Gradients<T> gradients({context.mesh,
                          context.comm,
                          backend,
                          context.recorder,
                          context.faults,
                          context.spec.sequence_parallel,
                          {}},
                         params);
  Optimizer<T> optimizer(context.spec, context.model, backend, params);
  ParamRecords<T> records(context.recorder, backend, &context.faults);
  contribute(params, backend);
  gradients.sum_over_dp(step);
  gradients.sum_over_tp(step);
  records.gradients(step, params.all());
  optimizer.show_parameters(&context.faults);
  records.after_update(step, params.all(), optimizer);
}

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
  const std::unique_ptr<Backend<T>> backend = make_host_backend<T>();
  for (int step = 0; step < context.spec.steps; ++step) {
    if (context.board != nullptr) {
      context.board->set_phase(context.mesh.rank(), "probe");
      context.board->beat(context.mesh.rank());
    }
    probe_step<T>(context, *backend, step);
  }
}

template void probe_in<double>(const RankContext& context);
template void probe_in<float>(const RankContext& context);

}  // namespace meshparity
