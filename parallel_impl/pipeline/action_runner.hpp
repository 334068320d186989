// Carries out actions of a rank's list, one at a time: passes of micro-batches through the chunks
// of the model that lie here, and the messages between stages.
#pragma once
#include <map>
#include <memory>
#include <optional>
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
class ActionRunner {
 public:
  /// Everything referenced outlives it.
  struct Parts {
    const CaseSpec& spec;
    const RawInputs& inputs;
    const Stages& stages;
    RankParts<T>& rank;
    Parameters<T>& params;
    Recorder& recorder;
    ActionLog& log;
    GradientSums<T>& sums;
  };
  explicit ActionRunner(const Parts& parts);

  /// What an action is done with: its micro-batch, and the loss of the step that it belongs to.
  struct Work {
    BatchPlace place;
    double loss_scale = 1;
    LossSum& loss;
  };
  /// Not reduce and step. Gradients are added to the accumulators, losses to the loss.
  void carry_out(const Action& action, const Work& work);
  /// Tokens of weight one in the micro-batch of the last pass.
  std::int64_t counted() const { return batch_.counted(); }
  /// A list is at its end; `forgets` what a planted fault left undone.
  void end(bool forgets);

 private:
  using Place = std::pair<int, int>;  // chunk, micro-batch of the list
  using Model = ChunkModel<T>;

  void forward(const Action& action, const Work& work);
  void backward(const Action& action, const Work& work);
  void weight(const Action& action, const Work& work);
  struct Message {
    bool onward = false;  // an activation; else a gradient
    int peer = 0;         // the other stage
    Site site;
  };
  Message message_of(const Action& action, const BatchPlace& place) const;
  void send(const Action& action, const BatchPlace& place);
  void receive(const Action& action, const BatchPlace& place);
  /// The inputs of a micro-batch, unless they are there from the action before.
  void load(const Action& action, const Work& work);
  bool forgets_last_length(int mb) const;
  void record_samples();
  void add_losses(const typename Model::Saved& saved, LossSum& loss);
  void keep(std::map<Place, Buffer<T>>& arrived, Place place, const Tensor<T>& values);
  void take(std::map<Place, Buffer<T>>& arrived, Place place, Buffer<T>& into);
  bool is_here(int chunk) const { return models_.contains(chunk); }
  Model& model(int chunk) { return *models_.at(chunk); }
  Tensor<T> gradient() {
    return matrix_in(grad_, parts_.rank.extent.stream.count, parts_.rank.stream());
  }

  Parts parts_;
  CommGroup pp_;
  Rotation<T> rotation_;
  std::map<int, std::unique_ptr<Model>> models_;  // by chunk
  std::map<Place, typename Model::Saved> in_flight_;
  // What a chunk waits for and has been given already: activations, gradients.
  std::map<Place, Buffer<T>> inputs_, output_grads_;
  Tensor<T> outgoing_;  // of the last forward pass, until the next
  Buffer<T> grad_;      // [stream rows, hidden], on its way back
  MicroBatch<T> batch_;
  std::optional<BatchPlace> loaded_;  // of batch_
  std::vector<T> host_losses_;
};

}  // namespace meshparity
