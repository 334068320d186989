#include "reference/loss_shares.hpp"

#include "reference/sample.hpp"

namespace meshparity::reference {

LossShares loss_shares(const ModelSpec& model, const RawInputs& inputs, const StepSamples& samples,
                       int mean_of_means) {
  const auto groups = static_cast<std::size_t>(mean_of_means == 0 ? 1 : mean_of_means);
  const std::size_t size = samples.indices.size() / groups;
  LossShares shares = {static_cast<int>(size), {}, 0, 0};
  for (std::size_t group = 0; group < groups; ++group) {
    double of_group = 0;
    for (std::size_t i = group * size; i < (group + 1) * size; ++i) {
      of_group += count_tokens_of_sample(model, inputs, samples.batch, samples.indices[i]);
    }
    shares.of_group.push_back(of_group > 0 ? 1 / of_group : 0);
    shares.tokens += of_group;
  }
  if (mean_of_means == 0) {
    shares.of_group = {1};
  }
  shares.divisor = mean_of_means == 0 ? shares.tokens : mean_of_means;
  return shares;
}

}  // namespace meshparity::reference
