// Where the bf16 lane keeps tensors in a short type: each tensor of a run that errs by storage
// alone is computed again from its inputs, and differs exactly where it was stored.
#include <gtest/gtest.h>

#include "reference/linear.hpp"
#include "reference/micro_case.hpp"
#include "reference/state.hpp"

namespace meshparity::reference {
namespace {

constexpr Lane kStorageAlone{"storage", 0, 0, 0, 0x1p-8, 0};

/// One sample of the first layer of llama-micro.
class StoragePlaces : public testing::Test {
 protected:
  StoragePlaces() {
    Rounding storage = Rounding::noisy(kStorageAlone, {});
    std::vector<GradientSum> sums = problem.network.gradient_sums(true);
    problem.network.forward(weights, sample, storage, work);
    problem.network.backward(weights, sample, storage, work, sums);
  }

  /// x W or x W^T without rounding.
  Matrix times(const Matrix& x, const char* parameter, bool transposed) {
    const Matrix& w = weights[place_of(problem.network.parameters(), parameter)].value;
    return transposed ? Matrix(x * w.transpose()) : Matrix(x * w);
  }
  static void expect_kept(const Matrix& tensor, const Matrix& again, const char* what) {
    EXPECT_GE(largest_difference(tensor, again), 0x1p-10 * again.cwiseAbs().maxCoeff()) << what;
  }
  static void expect_passing(const Matrix& tensor, const Matrix& again, const char* what) {
    EXPECT_LE(largest_difference(tensor, again), 0x1p-45 * again.cwiseAbs().maxCoeff()) << what;
  }

  Problem problem = problem_of(spec_of("llama-micro"));
  Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
  Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), 0);
  SampleWork work{problem.model()};
  Rounding exact = Rounding::exact();
};

TEST_F(StoragePlaces, OfForward) {
  const BlockTensors& t = work.values.blocks.front();
  Matrix y;
  dropout(work.values.embed_sum, sample.embedding, exact, y);
  expect_kept(t.in, y, "in");
  expect_passing(t.q_proj, times(t.norm1, "layer0.attn.q.weight", false), "q_proj");
  expect_kept(t.v, times(t.norm1, "layer0.attn.v.weight", false), "v");
  dropout(t.probs, sample.blocks.front().attention, exact, y);
  expect_kept(t.dropped, y, "softmax weights");
  expect_passing(t.attn_out, times(t.context, "layer0.attn.out.weight", false), "attn.out");
  dropout(t.attn_out, sample.blocks.front().attention_residual, exact, y);
  expect_kept(t.residual, t.in + y, "residual");
  expect_passing(t.gate, times(t.norm2, "layer0.mlp.gate.weight", false), "gate");
  expect_passing(t.up, times(t.norm2, "layer0.mlp.up.weight", false), "up");
  y = t.gate.array() / (1 + (-t.gate.array()).exp()) * t.up.array();
  expect_kept(t.act, y, "act");
  expect_passing(t.mlp_out, times(t.act, "layer0.mlp.down.weight", false), "mlp.out");
  expect_kept(work.values.logits, times(work.values.final_norm, "head.weight", true), "logits");
}

TEST_F(StoragePlaces, OfBackward) {
  const BlockTensors& d = work.gradients.blocks.front();
  expect_kept(work.gradients.final_norm, times(work.gradients.logits, "head.weight", false),
              "final norm");
  Matrix y;
  dropout(d.out, sample.blocks.front().mlp_residual, exact, y);
  expect_passing(d.mlp_out, y, "mlp.out");
  expect_kept(d.act, times(d.mlp_out, "layer0.mlp.down.weight", true), "act");
  y = times(d.gate, "layer0.mlp.gate.weight", true) + times(d.up, "layer0.mlp.up.weight", true);
  expect_kept(d.norm2, y, "norm2");
  expect_kept(d.context, times(d.attn_out, "layer0.attn.out.weight", true), "context");
  y = times(d.q_proj, "layer0.attn.q.weight", true) +
      times(d.k_proj, "layer0.attn.k.weight", true) + times(d.v, "layer0.attn.v.weight", true);
  expect_kept(d.norm1, y, "norm1");
  const Column projections = d.probs.cwiseProduct(work.values.blocks.front().probs).rowwise().sum();
  y = (d.probs.colwise() - projections).cwiseProduct(work.values.blocks.front().probs);
  expect_kept(d.scores, y, "dS");
}

}  // namespace
}  // namespace meshparity::reference
