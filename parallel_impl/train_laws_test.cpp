// The laws of single operations and of the update, recomputed from the records of whole cases by
// plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"
#include "fixtures/random_words.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

CaseRun run(const std::string& layout) {
  CaseRun made = run_whole_case("gpt-micro." + layout + ".fp64.host-threads", Level::all);
  EXPECT_EQ(made.complaints, std::vector<std::string>()) << layout;
  return made;
}

const std::vector<double>& record(const CaseRun& run, const std::string& name) {
  return run.records.at(name);
}

TEST(TrainLaws, TheLossIsTheMeanOfTheTokenLosses) {
  const CaseRun made = run("dp2-tp2.plain");
  for (const char* step : {"step0", "step1", "step2"}) {
    const std::string prefix = step;
    long double sum = 0;
    for (const double loss : record(made, prefix + "/loss/loss.token")) {
      sum += loss;
    }
    const double tokens = record(made, prefix + "/scalar/token_count").at(0);
    EXPECT_DOUBLE_EQ(record(made, prefix + "/loss/loss").at(0), static_cast<double>(sum) / tokens);
  }
}

/// The mean of the means of `groups` runs of samples; 5 tokens a sample, of weight 0 or 1.
double mean_of_means(const CaseRun& made, std::size_t groups) {
  const std::vector<double>& losses = record(made, "step1/loss/loss.token");
  const std::size_t width = losses.size() / groups;
  double sum = 0;
  for (std::size_t group = 0; group < groups; ++group) {
    double of_group = 0, tokens = 0;
    for (std::size_t i = group * width; i < (group + 1) * width; ++i) {
      of_group += losses[i];
      tokens += losses[i] == 0 ? 0 : 1;  // a counted token's loss is above 0
    }
    sum += tokens == 0 ? 0 : of_group / tokens;
  }
  return sum / static_cast<double>(groups);
}

TEST(TrainLaws, AMeanOfMeansIsTheMeanOverDataRanksAndMicroBatches) {
  for (const char* mode : {"loss_mbmean", "loss_legacy"}) {
    const CaseRun made = run(std::string("dp2-tp2.mb2-") + mode);
    const double loss = record(made, "step1/loss/loss").at(0);

    EXPECT_DOUBLE_EQ(loss, mean_of_means(made, 4)) << mode;
    EXPECT_NE(loss, mean_of_means(made, 2)) << mode;
    EXPECT_NE(loss, mean_of_means(made, 1)) << mode;
  }
}

/// The head's gradient, from the records of logits and of the last norm: sum over tokens of
/// dlogits_v x_f, by groups of samples, each over its tokens.
TEST(TrainLaws, TheGradientOfAMeanOfMeansWeighsEveryMicroBatchByItsTokens) {
  const CaseRun made = run("dp2-tp2.mb2-loss_mbmean-steps1");
  const std::vector<double>& grad = record(made, "step0/grad/head.weight");  // [13, 8]
  const std::vector<double>& dz = record(made, "step0/backward/logits");     // [20, 13]
  const std::vector<double>& x = record(made, "step0/forward/final_norm");   // [20, 8]
  const std::vector<double>& losses = record(made, "step0/loss/loss.token");
  std::vector<double> expected(grad.size());
  for (std::size_t group = 0; group < 4; ++group) {
    const auto first = losses.begin() + static_cast<std::ptrdiff_t>(group * 5);
    const auto tokens = static_cast<double>(5 - std::count(first, first + 5, 0.0));
    for (std::size_t row = group * 5; row < group * 5 + 5; ++row) {
      for (std::size_t at = 0; at < expected.size() && tokens > 0; ++at) {
        expected[at] += dz[row * 13 + at / 8] * x[row * 8 + at % 8] / tokens / 4;
      }
    }
  }
  for (std::size_t at = 0; at < grad.size(); ++at) {
    // Twenty products of size 1 or less, each rounded a few times.
    EXPECT_NEAR(grad[at], expected[at], 64 * 0x1p-53) << at;
  }
}

TEST(TrainLaws, SharesOfARowParallelSumMakeTheRecord) {
  const CaseRun made = run("tp2.plain");
  const std::string path = "step0/attn.out/contribution/layer0/mb0";
  const std::vector<double>& first = made.locals[0].at(path);
  const std::vector<double>& second = made.locals[1].at(path);
  const std::vector<double>& out = record(made, "step0/forward/layer0.attn.out");
  const std::vector<ParamSpec> table =
      param_table(load_named_model(MESHPARITY_MODELS, "gpt-micro"));
  const auto bias = static_cast<std::size_t>(
      std::find_if(table.begin(), table.end(),
                   [](const ParamSpec& p) { return p.name == "layer0.attn.out.bias"; }) -
      table.begin());
  std::vector<double> bias_values(8);
  initial_values(table, bias, 1, 0, bias_values);

  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], (first[i] + second[i]) + bias_values[i % 8]);
  }
}

/// out = base + dropout(branch) with the words of one site, elementwise; an empty base is 0.
void expect_dropped(const CaseRun& made, WordOp op, const std::string& base,
                    const std::string& branch, const std::string& out) {
  const WordStream words = {1, 2, 0, op};
  const std::vector<double>& before = record(made, "step2/forward/" + branch);
  const std::vector<double>& after = record(made, "step2/forward/" + out);
  const double probability = load_named_model(MESHPARITY_MODELS, "gpt-micro").dropout;
  const auto threshold = static_cast<std::uint32_t>(std::floor(probability * 4294967296.0));
  int dropped = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool keep = words.word(i) >= threshold;
    const double shift = base.empty() ? 0 : record(made, "step2/forward/" + base)[i];
    EXPECT_EQ(after[i], shift + (keep ? before[i] / (1 - probability) : 0)) << out << " " << i;
    dropped += keep ? 0 : 1;
  }
  EXPECT_GT(dropped, 0) << out;
}

TEST(TrainLaws, EachDropoutDrawsTheWordsOfItsOwnSiteAndStep) {
  const CaseRun made = run("dp2-tp2.mb2");

  expect_dropped(made, WordOp::embedding_dropout, "", "embed.sum", "layer0.in");
  expect_dropped(made, WordOp::attention_residual_dropout, "layer0.in", "layer0.attn.out",
                 "layer0.attn.residual");
  expect_dropped(made, WordOp::mlp_residual_dropout, "layer0.attn.residual", "layer0.mlp.out",
                 "layer0.out");
}

/// Softmax over the keys seen by query i of (sample, head), by plain loops over the records.
std::vector<double> probabilities(const CaseRun& made, std::size_t sample, std::size_t head,
                                  std::size_t i) {
  const std::vector<double>& q = record(made, "step0/forward/layer0.attn.q");  // [4, 5, 4, 2]
  const std::vector<double>& k = record(made, "step0/forward/layer0.attn.k");
  const auto feature = [&](std::size_t token) { return ((sample * 5 + token) * 4 + head) * 2; };
  std::vector<double> row(5);
  double sum = 0;
  for (std::size_t j = 0; j <= i; ++j) {
    const double score = q[feature(i)] * k[feature(j)] + q[feature(i) + 1] * k[feature(j) + 1];
    row[j] = std::exp(score / std::sqrt(2.0));
    sum += row[j];
  }
  for (double& p : row) {
    p /= sum;
  }
  return row;
}

TEST(TrainLaws, ProbabilitiesAreTheSoftmaxOfScoresOverTheRootOfTheHeadWidth) {
  const CaseRun made = run("dp2-tp2.steps1");
  const std::vector<double>& probs = record(made, "step0/forward/layer0.attn.probs");
  for (std::size_t row = 0; row < 4 * 4 * 5; ++row) {
    const std::vector<double> expected = probabilities(made, row / 20, row / 5 % 4, row % 5);
    for (std::size_t j = 0; j < 5; ++j) {
      // Scores of size 1 or so are rounded four times, and the exponential and the sum besides.
      EXPECT_NEAR(probs[row * 5 + j], expected[j], 16 * 0x1p-53) << row << " " << j;
    }
  }
}

TEST(TrainLaws, TheTwoUsesOfATiedWeightHaveARecordEach) {
  const CaseRun made = run("single.sgd-steps1");
  const double tokens = record(made, "step0/scalar/token_count").at(0);
  for (const std::string name : {"embed.weight", "head.weight"}) {
    std::vector<double> expected = made.locals[0].at("step0/grad.dp/contribution/" + name);
    for (double& value : expected) {
      value /= tokens;
    }

    EXPECT_EQ(record(made, "step0/grad/" + name), expected);
  }
  EXPECT_EQ(record(made, "step0/param/head.weight"), record(made, "step0/param/embed.weight"));
}

/// The gradient that the optimizer takes: of a tied weight, the sum of its two uses.
std::vector<double> whole_gradient(const CaseRun& made, const std::string& step,
                                   const std::string& name) {
  std::vector<double> grad = record(made, step + "/grad/" + name);
  if (name == "embed.weight" || name == "head.weight") {
    const std::vector<double>& embedding = record(made, step + "/grad/embed.weight");
    const std::vector<double>& head = record(made, step + "/grad/head.weight");
    std::transform(embedding.begin(), embedding.end(), head.begin(), grad.begin(), std::plus<>());
  }
  return grad;
}

TEST(TrainLaws, TheUpdateTakesTheWholeClippedGradient) {
  const CaseRun made = run("dp2-tp2.sgd");
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const double clip = record(made, "step1/scalar/clip_coef").at(0);
  EXPECT_LT(clip, 1);
  for (const ParamSpec& param : param_table(model)) {
    std::vector<double> expected = record(made, "step0/param/" + param.name);
    const std::vector<double> grad = whole_gradient(made, "step1", param.name);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] -= model.sgd_learning_rate * (clip * grad[i]);
    }
    EXPECT_EQ(record(made, "step1/param/" + param.name), expected) << param.name;
  }
}

TEST(TrainLaws, PaddingStaysZero) {
  const CaseRun made = run("tp4.plain");
  int seen = 0;
  for (const auto& locals : made.locals) {
    for (const auto& [path, values] : locals) {
      if (path.starts_with("pad/")) {
        ++seen;
        EXPECT_EQ(values, std::vector<double>(values.size())) << path;
      }
    }
  }
  EXPECT_GT(seen, 0);
}

}  // namespace
}  // namespace meshparity
