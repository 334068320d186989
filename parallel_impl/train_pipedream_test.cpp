// Pipelines that are never flushed against one process that follows the rule of algorithms.md §3.5
// by itself: lists of all versions of all weights, one forward and backward pass a micro-batch, the
// update on the newest. The gradient of a micro-batch is one sum, so every bit must agree.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fixtures/step_place.hpp"
#include "parallel_impl/case_run.hpp"
#include "parallel_impl/model/chunk_model.hpp"
#include "parallel_impl/model/test_rank.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"

namespace meshparity {
namespace {

using testing::IsEmpty;
using Values = std::vector<double>;

std::string id_of(const std::string& head) {
  return head + ".fp64.host-threads";
}

CaseSpec on_one_rank(CaseSpec spec) {
  spec.mesh = {};
  spec.schedule = Schedule::none;
  spec.split.clear();
  return spec;
}

/// Updates behind the weights that a stage uses in a step.
int version_by_rule(const CaseSpec& spec, int stage, int step) {
  const int last = spec.mesh.degree(Axis::pp) - 1;
  const int behind = spec.schedule == Schedule::pipedream         ? last - stage
                     : spec.schedule == Schedule::pipedream_vsync ? last
                                                                  : 1;
  return std::max(0, step - behind);
}

/// One process. `stage_of_piece`: of the embedding, the blocks, the head.
class Emulation {
 public:
  Emulation(const std::string& id, std::vector<int> stage_of_piece)
      : spec_(parse_case(id)),
        alone_(on_one_rank(spec_)),
        model_(load_named_model(MESHPARITY_MODELS, spec_.model)),
        inputs_(model_, spec_, nullptr),
        stage_of_piece_(std::move(stage_of_piece)),
        samples_(model_.global_batch / spec_.mesh.degree(Axis::dp) / spec_.micro_batches),
        world_({"one process"}),
        rank_(model_, alone_, world_, 0, samples_),
        rotation_(model_, *rank_.backend),
        chunk_(rank_.parts, rank_.params, rotation_, {0, model_.layers + 2}, model_.smoothing),
        batch_(samples_ * model_.sequence, *rank_.backend) {
    versions_.emplace_back();
    for (const Param<double>& param : rank_.params.all()) {
      versions_[0].emplace_back(param.value, param.value + param.count());
    }
    for (int step = 0; step < step_count(spec_); ++step) {
      run(step);
    }
  }

  /// By name as in a CaseRun: gradients, parameters, losses.
  const std::map<std::string, Values>& records() const { return records_; }

 private:
  void run(int step) {
    for (std::size_t i = 0; i < rank_.params.all().size(); ++i) {
      Param<double>& param = rank_.params.all()[i];
      const int stage = stage_of_piece_.at(static_cast<std::size_t>(piece_of(param.spec, model_)));
      const auto version = static_cast<std::size_t>(version_by_rule(spec_, stage, step));
      std::copy(versions_.at(version)[i].begin(), versions_[version][i].end(), param.value);
    }
    tokens_ = 0;
    losses_ = ExactSum();
    std::vector<Values> sums;
    for (int replica = 0; replica < spec_.mesh.degree(Axis::dp); ++replica) {
      add(gradients_of(replica, step), sums);
    }
    update(step, std::move(sums));
    records_[fmt::format("step{}/loss/loss", step)] = {
        tokens_ > 0 ? losses_.value() / static_cast<double>(tokens_) : 0};
  }

  /// Of the step's micro-batches of one replica.
  std::vector<Values> gradients_of(int replica, int step) {
    rank_.params.clear_gradients();
    const bool is_micro_batch = spec_.schedule != Schedule::pipedream_2bw;
    const int m = spec_.micro_batches;
    for (int mb = is_micro_batch ? step % m : 0; mb < (is_micro_batch ? step % m + 1 : m); ++mb) {
      pass({.samples = samples_,
            .sequence = model_.sequence,
            .batch = is_micro_batch ? step / m : step,
            .first_in_batch = (replica * m + mb) * samples_});
    }
    std::vector<Values> gradients;
    for (const Param<double>& param : rank_.params.all()) {
      gradients.emplace_back(param.grad, param.grad + param.count());
    }
    return gradients;
  }

  void pass(const BatchPlace& place) {
    batch_.load(inputs_, place);
    ChunkModel<double>::Saved saved(chunk_);
    chunk_.forward(batch_, saved);
    const Buffer<double>& losses = saved.head->loss.loss;
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      losses_.add(losses.data()[i]);
    }
    tokens_ += batch_.counted();
    Buffer<double> grad(*rank_.backend, MemoryTag::buffer, rank_.parts.stream_count());
    Tensor<double> of_input = matrix_in(grad, rank_.extent.stream.count, rep());
    chunk_.backward(batch_, of_input, saved);
  }

  static void add(const std::vector<Values>& gradients, std::vector<Values>& sums) {
    if (sums.empty()) {
      sums = gradients;
      return;
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::transform(sums[i].begin(), sums[i].end(), gradients[i].begin(), sums[i].begin(),
                     std::plus<>());
    }
  }

  void update(int step, std::vector<Values> sums) {
    std::vector<Values> next = versions_.back();
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Param<double>& param = rank_.params.all()[i];
      for (std::size_t at = 0; at < sums[i].size(); ++at) {
        sums[i][at] = tokens_ > 0 ? sums[i][at] / static_cast<double>(tokens_) : 0;
        next[i][at] -= model_.sgd_learning_rate * sums[i][at];
      }
      record(fmt::format("step{}/grad/{}", step, param.spec.name), param, sums[i]);
      record(fmt::format("step{}/param/{}", step, param.spec.name), param, next[i]);
    }
    versions_.push_back(std::move(next));
  }

  /// Without vocabulary padding.
  void record(const std::string& name, const Param<double>& param, const Values& values) {
    records_[name] = Values(values.begin(), values.begin() + param.slice.logical);
  }

  CaseSpec spec_, alone_;
  ModelSpec model_;
  RawInputs inputs_;
  std::vector<int> stage_of_piece_;
  int samples_;
  ThreadWorld world_;
  TestRank rank_;
  Rotation<double> rotation_;
  ChunkModel<double> chunk_;
  MicroBatch<double> batch_;
  std::vector<std::vector<Values>> versions_;  // of all parameters
  std::int64_t tokens_ = 0;                    // of the step under way
  ExactSum losses_;
  std::map<std::string, Values> records_;
};

struct Emulated {
  const char* head;
  std::vector<int> stage_of_piece;
};
void PrintTo(const Emulated& row, std::ostream* out) {
  *out << row.head;
}

class Pipedream : public testing::TestWithParam<Emulated> {};

TEST_P(Pipedream, HasTheBitsOfOneProcessThatFollowsTheRule) {
  const std::string id = id_of(GetParam().head);
  const CaseRun run = run_whole_case(id, Level::standard);
  const Emulation due(id, GetParam().stage_of_piece);

  EXPECT_THAT(run.complaints, IsEmpty());
  std::vector<std::string> unequal;
  for (const auto& [name, values] : due.records()) {
    if (!run.records.contains(name) || run.records.at(name) != values) {
      unequal.push_back(name);
    }
  }
  EXPECT_THAT(unequal, IsEmpty());
}

// Pieces: embedding, blocks, head. Sample 3 of the micro models has no token: an empty step.
INSTANTIATE_TEST_SUITE_P(
    Kinds, Pipedream,
    testing::Values(
        Emulated{"llama-micro.pp2.pipedream-mb4-sgd-clip_off-steps2", {0, 0, 1}},
        Emulated{"llama-micro.pp2.pipedream-mb4-sgd-clip_off-split1_2-steps2", {0, 1, 1}},
        Emulated{"llama-micro.pp2.pipedream_vsync-mb4-sgd-clip_off-steps2", {0, 0, 1}},
        Emulated{"llama-micro.pp2.pipedream_2bw-mb2-sgd-clip_off", {0, 0, 1}},
        Emulated{"llama-micro.pp3.pipedream_2bw-mb4-sgd-clip_off", {0, 1, 2}},
        Emulated{"llama-micro.dp2-pp2.pipedream_2bw-mb2-sgd-clip_off", {0, 0, 1}},
        Emulated{"llama-tiny.pp3.pipedream-mb6-rc_full-sgd-clip_off-steps1", {0, 0, 1, 2}},
        Emulated{"llama-tiny.dp2-pp2.pipedream-mb4-sgd-clip_off-steps1", {0, 0, 1, 1}},
        Emulated{"llama-tiny.dp3-pp2.pipedream_vsync-mb4-sgd-clip_off-steps1", {0, 0, 1, 1}}));

}  // namespace
}  // namespace meshparity
