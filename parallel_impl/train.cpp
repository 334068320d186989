#include "parallel_impl/train.hpp"

#include "fixtures/case_rules.hpp"
#include "fixtures/error.hpp"
#include "parallel_impl/asynchronous_stream.hpp"
#include "parallel_impl/probe.hpp"
#include "parallel_impl/synchronous_steps.hpp"

namespace meshparity {
namespace {

template <class T>
void train_in(const RankContext& context) {
  if (is_probe(context.spec)) {
    return probe_in<T>(context);
  }
  TrainingRank<T> rank(context);
  if (is_asynchronous(context.spec.schedule)) {
    AsynchronousStream<T>(rank).run();
  } else {
    SynchronousSteps<T>(rank).run();
  }
  if (context.memory != nullptr) {
    *context.memory = rank.memory();
  }
  if (context.actions != nullptr) {
    *context.actions = rank.log().rows();
  }
}

}  // namespace

void train(const RankContext& context) {
  switch (context.spec.precision) {
    case Precision::fp64:
      return train_in<double>(context);
    case Precision::fp32:
    case Precision::tf32:  // of products, which are made where the backend lies
    case Precision::bf16:
      return train_in<float>(context);
  }
}

}  // namespace meshparity
