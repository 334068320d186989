// Carries out a rank's list of actions: all micro-batches of a step, forward and backward, through
// the chunks of the model that lie here.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "fixtures/raw_inputs.hpp"
#include "parallel_impl/loss_sum.hpp"
#include "parallel_impl/model/chunk_model.hpp"
#include "parallel_impl/optimizer/gradient_sums.hpp"
#include "parallel_impl/pipeline/action_lists.hpp"
#include "parallel_impl/pipeline/action_log.hpp"

namespace meshparity {

template <class T>
class StepRunner {
 public:
  /// Everything referenced outlives it.
  struct Parts {
    const CaseSpec& spec;
    const RawInputs& inputs;
    const Stages& stages;
    RankParts<T>& rank;
    Parameters<T>& params;
    Recorder& recorder;
    LossSum& loss;
    ActionLog& log;
    GradientSums<T>& sums;
  };
  explicit StepRunner(const Parts& parts);

  /// What a step is run with.
  struct Step {
    int number = 0;
    double loss_scale = 1;
    int version = 0;  // optimizer steps behind the weights
  };
  /// Adds the gradients of all micro-batches to the accumulators, their losses to the loss. True
  /// where a planted fault had `sum_gradients` done before all were there.
  bool run(const Step& step, const std::function<void()>& sum_gradients);

 private:
  using Place = std::pair<int, int>;  // chunk, micro-batch
  using Model = ChunkModel<T>;

  void carry_out(const Action& action);
  void forward(int chunk, int mb);
  void backward(int chunk, int mb);
  void weight(int chunk, int mb);
  struct Message {
    bool onward = false;  // an activation; else a gradient
    int peer = 0;         // the other stage
    Site site;
  };
  Message message_of(const Action& action) const;
  void send(const Action& action);
  void receive(const Action& action);
  /// The inputs of a micro-batch, unless they are there from the action before.
  void load(int mb);
  bool forgets_last_length(int mb) const;
  void record_samples();
  void add_losses(const typename Model::Saved& saved);
  void keep(std::map<Place, Buffer<T>>& arrived, Place place, const Tensor<T>& values);
  void take(std::map<Place, Buffer<T>>& arrived, Place place, Buffer<T>& into);
  bool is_here(int chunk) const;
  Model& model(int chunk) { return *models_.at(chunk); }
  Tensor<T> gradient() {
    return matrix_in(grad_, parts_.rank.extent.stream.count, parts_.rank.stream());
  }

  Parts parts_;
  int stage_;
  CommGroup pp_;
  ActionList actions_;
  Rotation<T> rotation_;
  std::map<int, std::unique_ptr<Model>> models_;  // by chunk
  std::map<Place, typename Model::Saved> in_flight_;
  // What a chunk waits for and has been given already: activations, gradients.
  std::map<Place, Buffer<T>> inputs_, output_grads_;
  Tensor<T> outgoing_;  // of the last forward pass, until the next
  Buffer<T> grad_;      // [stream rows, hidden], on its way back
  MicroBatch<T> batch_;
  std::pair<int, int> loaded_ = {-1, -1};  // step and micro-batch of batch_
  std::vector<T> host_losses_;
  Step step_;
};

}  // namespace meshparity
