#include "parallel_impl/model/micro_batch.hpp"

#include <gtest/gtest.h>

#include "fixtures/case_spec.hpp"
#include "parallel_impl/backend/host_backend.hpp"
#include "parallel_impl/model/keep_words.hpp"

namespace meshparity {
namespace {

ModelSpec micro() {
  return load_named_model(MESHPARITY_MODELS, "gpt-micro");
}

CaseSpec dp2_mb2() {
  return parse_case("gpt-micro.dp2.mb2.fp64.host-threads");
}

TEST(BatchPlace, SamplesGoByDataRankThenMicroBatch) {
  const CaseSpec spec = dp2_mb2();  // 4 samples: one each
  for (int rank = 0; rank < 2; ++rank) {
    for (int mb = 0; mb < 2; ++mb) {
      const BatchPlace place = batch_place(micro(), spec, Mesh(spec, rank), 3, mb);

      EXPECT_EQ(place.samples, 1);
      EXPECT_EQ(place.first_sample, 2 * rank + mb);
      EXPECT_EQ(place.step, 3);
      EXPECT_EQ(place.rows(), 5);
    }
  }
}

TEST(MicroBatch, LabelsAreTheNextTokensAndWeightsWhatIsValid) {
  const CaseSpec spec = dp2_mb2();
  const RawInputs inputs(micro(), spec, nullptr);
  const auto backend = make_host_backend<double>();
  MicroBatch<double> batch(5, *backend);
  std::int64_t counted = 0;
  for (int sample = 0; sample < 4; ++sample) {
    batch.load(inputs, batch_place(micro(), spec, Mesh(spec, sample / 2), 1, sample % 2));

    counted += batch.counted();
    for (int p = 0; p < 5; ++p) {
      EXPECT_EQ(batch.tokens()[p], inputs.token(1, sample, p));
      EXPECT_EQ(batch.labels()[p], inputs.token(1, sample, p + 1));
      const bool valid = p < inputs.length(1, sample) && inputs.mask_bit(1, sample, p);
      EXPECT_EQ(batch.weights()[p], valid ? 1 : 0);
    }
  }
  EXPECT_GT(counted, 0);
  EXPECT_LT(counted, 20);
}

TEST(KeepWords, HiddenWordsGoByGlobalSamplePositionAndFeature) {
  const CaseSpec spec = dp2_mb2();
  const auto backend = make_host_backend<double>();
  KeepWords words(spec, micro());
  WordBuffer out = words.buffer(*backend, MemoryTag::activation_B, 5 * 8);
  const BatchPlace place = batch_place(micro(), spec, Mesh(spec, 1), 2, 0);  // sample 2

  words.fill_hidden(WordOp::mlp_residual_dropout, 1, place, {0, 5}, out);

  const WordStream stream = {spec.seed, 2, 1, WordOp::mlp_residual_dropout};
  for (unsigned position = 0; position < 5; ++position) {
    for (unsigned feature = 0; feature < 8; ++feature) {
      EXPECT_EQ(out.get()[position * 8 + feature], stream.word((2 * 5 + position) * 8 + feature));
    }
  }
}

TEST(KeepWords, AttentionWordsGoByGlobalHead) {
  const CaseSpec spec = parse_case("gpt-micro.tp2.plain.fp64.host-threads");
  const auto backend = make_host_backend<double>();
  KeepWords words(spec, micro());
  WordBuffer out = words.buffer(*backend, MemoryTag::activation_B, 4 * 2 * 5 * 5);
  const BatchPlace place = batch_place(micro(), spec, Mesh(spec, 1), 0, 0);

  words.fill_attention(0, place, {2, 2}, out);

  const WordStream stream = {spec.seed, 0, 0, WordOp::attention_dropout};
  for (unsigned sample = 0; sample < 4; ++sample) {
    for (unsigned head = 0; head < 2; ++head) {
      for (unsigned pair = 0; pair < 25; ++pair) {
        EXPECT_EQ(out.get()[(sample * 2 + head) * 25 + pair],
                  stream.word((sample * 4 + 2 + head) * 25 + pair));
      }
    }
  }
}

TEST(KeepWords, ThereAreNoneWithoutDropout) {
  const CaseSpec spec = parse_case("gpt-micro.single.drop0.fp64.host-threads");
  const auto backend = make_host_backend<double>();
  KeepWords words(spec, micro());
  WordBuffer out = words.buffer(*backend, MemoryTag::activation_B, 40);

  words.fill_hidden(WordOp::embedding_dropout, 0, batch_place(micro(), spec, Mesh(spec, 0), 0, 0),
                    {0, 5}, out);

  EXPECT_EQ(out.get(), nullptr);
}

}  // namespace
}  // namespace meshparity
