#include "reference/loss_shares.hpp"

#include "reference/sample.hpp"

namespace meshparity::reference {

LossShares loss_shares(const ModelSpec& model, const RawInputs& inputs, int step,
                       int mean_of_means) {
  const double tokens = count_tokens(model, inputs, step);
  if (mean_of_means == 0) {
    return {model.global_batch, {1}, tokens, tokens};
  }
  const int samples = model.global_batch / mean_of_means;
  LossShares shares = {samples, {}, static_cast<double>(mean_of_means), tokens};
  for (int group = 0; group < mean_of_means; ++group) {
    double of_group = 0;
    for (int sample = group * samples; sample < (group + 1) * samples; ++sample) {
      of_group += count_tokens_of_sample(model, inputs, step, sample);
    }
    shares.of_group.push_back(of_group > 0 ? 1 / of_group : 0);
  }
  return shares;
}

}  // namespace meshparity::reference
