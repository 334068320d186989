// The reference program against PyTorch's autograd: fixtures/golden/*.h5, made by
// fixtures/golden/make_golden.py from the same raw inputs and nothing else of ours.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>

#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/job.hpp"
#include "fixtures/param_table.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

// Two float64 evaluations of one formula differ by a few hundred roundings (2^-53 each) of the
// largest terms; 1e-12 is 9,000 of them, and a wrong term is far above.
constexpr double kRelative = 1e-12;
constexpr double kUnit = 0x1p-53;
constexpr double kSeen = 1e-6;  // of an AdamW step
constexpr int kSteps = 3;

/// What the golden file keeps of one tensor.
struct Kept {
  std::vector<std::int64_t> at;  // places in the flattened tensor
  std::vector<double> values;    // there
  double norm = 0;               // of the whole tensor
  double largest = 0;            // magnitude, of the whole tensor
};

using Key = std::tuple<Phase, int, std::string>;

std::map<Key, Kept> read_golden(const std::filesystem::path& file) {
  const DumpReader reader(file);
  const std::vector<double> statistics = reader.read_local("statistics");
  std::map<Key, Kept> golden;
  for (const Piece& piece : reader.pieces()) {
    const auto row = static_cast<std::size_t>(piece.order) * 2;
    golden[{piece.phase, piece.step, piece.record}] = {
        std::get<RowsPlacement>(piece.placement).rows, reader.read(piece), statistics.at(row),
        statistics.at(row + 1)};
  }
  return golden;
}

/// Every record of the reference's dump, which holds each as one whole piece.
std::map<Key, std::vector<double>> read_reference(const std::filesystem::path& file) {
  const DumpReader reader(file);
  std::map<Key, std::vector<double>> records;
  for (const Piece& piece : reader.pieces()) {
    const bool fresh =
        records.emplace(Key{piece.phase, piece.step, piece.record}, reader.read(piece)).second;
    EXPECT_TRUE(fresh) << piece.path << ": a second piece";
  }
  return records;
}

/// Both sides of one case.
class GoldenCase {
 public:
  GoldenCase(const std::string& model_name, OptimizerKind optimizer)
      : model(load_named_model(MESHPARITY_MODELS, model_name)) {
    spec.model = model_name;
    spec.optimizer = optimizer;
    golden = read_golden(fmt::format("{}/{}.{}.h5", MESHPARITY_GOLDEN, model_name,
                                     optimizer == OptimizerKind::sgd ? "sgd" : "adamw"));
    run();
  }

  const Kept& kept(Phase phase, int step, const std::string& record) const {
    return golden.at({phase, step, record});
  }
  const std::vector<double>& ours(Phase phase, int step, const std::string& record) const {
    return records.at({phase, step, record});
  }
  double scalar(int step, const std::string& record) const {
    return kept(Phase::scalar, step, record).values.at(0);
  }

  ModelSpec model;
  CaseSpec spec;
  std::map<Key, Kept> golden;

 private:
  void run() {
    const ScratchFolder folder;
    Job job;
    job.case_id = format_case(spec);
    job.out = folder / "out";
    job.models = MESHPARITY_MODELS;
    job.commit = "golden test";
    std::filesystem::create_directories(job.out);
    std::ofstream(folder / "jobs") << format_job(job) << '\n';
    const std::string command = fmt::format("{} --jobs {} >{}", MESHPARITY_REFERENCE,
                                            (folder / "jobs").string(), (folder / "log").string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    records = read_reference(job.out / rank_file_name(0));
  }

  std::map<Key, std::vector<double>> records;
};

/// Largest ratio of error to limit over the elements kept; NaN counts as infinite.
double worst_ratio(const Kept& golden, const std::vector<double>& ours,
                   const std::function<double(std::size_t)>& limit) {
  double worst = 0;
  for (std::size_t i = 0; i < golden.values.size(); ++i) {
    const double error =
        std::abs(ours.at(static_cast<std::size_t>(golden.at[i])) - golden.values[i]);
    const double ratio = error == 0 ? 0 : error / limit(i);
    worst = ratio <= worst ? worst : std::isfinite(ratio) ? ratio : HUGE_VAL;
  }
  return worst;
}

/// Kept elements, norm and largest magnitude, each element of the tensor within `limit`.
void expect_close(const Kept& golden, const std::vector<double>& ours, double limit,
                  const std::string& what) {
  const double norm = std::sqrt(std::inner_product(ours.begin(), ours.end(), ours.begin(), 0.0));
  double largest = 0;
  for (const double value : ours) {
    largest = std::abs(value) <= largest ? largest : std::abs(value);
  }
  const double root = std::sqrt(static_cast<double>(ours.size()));
  EXPECT_LE(worst_ratio(golden, ours, [&](std::size_t) { return limit; }), 1) << what;
  EXPECT_LE(std::abs(norm - golden.norm), limit * root) << what << ", norm";
  EXPECT_LE(std::abs(largest - golden.largest), limit) << what << ", largest";
}

void expect_close(const GoldenCase& both, Phase phase, int step, const std::string& record) {
  const Kept& golden = both.kept(phase, step, record);
  EXPECT_GT(golden.largest, 0) << record;
  expect_close(golden, both.ours(phase, step, record), kRelative * golden.largest,
               fmt::format("{} {} step {}", phase_name(phase), record, step));
}

/// Zero in exact arithmetic: a key bias adds one number to all scores of a query, and softmax does
/// not see it. What is left is rounding, on the scale of the step's other gradients.
bool is_zero_in_theory(const std::string& parameter) {
  return parameter.ends_with(".attn.k.bias");
}

double largest_gradient(const GoldenCase& both, int step) {
  double largest = 0;
  for (const ParamSpec& param : param_table(both.model)) {
    largest = std::max(largest, both.kept(Phase::grad, step, param.name).largest);
  }
  return largest;
}

/// How far two right gradients of a parameter may lie apart.
double gradient_limit(const GoldenCase& both, int step, const std::string& parameter) {
  return kRelative * (is_zero_in_theory(parameter)
                          ? largest_gradient(both, step)
                          : both.kept(Phase::grad, step, parameter).largest);
}

void expect_equal_network(const GoldenCase& both) {
  for (int step = 0; step < kSteps; ++step) {
    expect_close(both, Phase::forward, step, "logits");
    expect_close(both, Phase::loss, step, "loss");
    expect_close(both, Phase::scalar, step, "grad_norm");
    expect_close(both, Phase::scalar, step, "clip_coef");
    for (const ParamSpec& param : param_table(both.model)) {
      expect_close(both.kept(Phase::grad, step, param.name),
                   both.ours(Phase::grad, step, param.name), gradient_limit(both, step, param.name),
                   fmt::format("grad {} step {}", param.name, step));
    }
  }
}

void expect_equal_sgd(const GoldenCase& both) {
  for (const ParamSpec& param : param_table(both.model)) {
    expect_close(both, Phase::param, kSteps - 1, param.name);
  }
}

/// AdamW of one element, from the golden gradients alone, with limits on all that it makes.
/// With gradients that differ by D, averages of them differ by the same average of D, and so do
/// the roots of averages of squares; hence for the step u = m/(sqrt(v)+e)
///     |change of u| <= D (1 + |u|) / (sqrt(v) + e),
/// which is large only where the gradient is small (for one step: algorithms of the first step).
struct AdamwLimits {
  double moment1 = 0, moment2 = 0, parameter = 0;

  void step(const ModelSpec& model, int t, double gradient, double difference) {
    const auto [b1, b2] = std::pair(model.beta1, model.beta2);
    m_ = b1 * m_ + (1 - b1) * gradient;
    v_ = b2 * v_ + (1 - b2) * gradient * gradient;
    size_ = b1 * size_ + (1 - b1) * std::abs(gradient);
    moment1 = b1 * moment1 + (1 - b1) * difference + 8 * kUnit * size_;
    moment2 = b2 * moment2 + (1 - b2) * difference * (2 * std::abs(gradient) + difference) +
              8 * kUnit * v_;
    largest_ = std::max(largest_, difference);
    const double root = std::sqrt(v_ / (1 - std::pow(b2, t))) + model.adam_epsilon;
    const double u = std::abs(m_) / (1 - std::pow(b1, t)) / root;
    parameter += model.learning_rate * (largest_ * (1 + u) / root + 32 * kUnit * (1 + u));
  }

 private:
  double m_ = 0, v_ = 0, size_ = 0, largest_ = 0;
};

/// Limits of every kept element of a parameter after the last step; a tied one adds its gradients.
std::vector<AdamwLimits> adamw_limits(const GoldenCase& both, const std::string& parameter) {
  std::vector<std::string> names = {parameter};
  for (const ParamSpec& param : param_table(both.model)) {
    if (param.tied_to == parameter) {
      names.push_back(param.name);
    }
  }
  std::vector<AdamwLimits> limits(both.kept(Phase::grad, 0, parameter).values.size());
  for (int step = 0; step < kSteps; ++step) {
    const double coefficient = both.scalar(step, "clip_coef");
    for (std::size_t i = 0; i < limits.size(); ++i) {
      double gradient = 0, difference = 0;
      for (const std::string& name : names) {
        gradient += both.kept(Phase::grad, step, name).values[i];
        difference += gradient_limit(both, step, name);
      }
      limits[i].step(both.model, step + 1, coefficient * gradient, coefficient * difference);
    }
  }
  return limits;
}

/// Counts elements whose limit would hide a change of kSeen of a step: those whose gradients are so
/// small that AdamW divides rounding by them.
std::size_t expect_equal_adamw(const GoldenCase& both, const ParamSpec& param) {
  const int last = kSteps - 1;
  const std::vector<AdamwLimits> limits = adamw_limits(both, param.name);
  const Kept& value = both.kept(Phase::param, last, param.name);
  const auto ratio = [&](Phase phase, const auto& limit) {
    return worst_ratio(both.kept(phase, last, param.name), both.ours(phase, last, param.name),
                       limit);
  };
  const auto of_value = [&](std::size_t i) {
    return limits[i].parameter + 4 * kSteps * kUnit * std::abs(value.values[i]);
  };
  EXPECT_LE(ratio(Phase::moment1, [&](std::size_t i) { return limits[i].moment1; }), 1)
      << "moment1 " << param.name;
  EXPECT_LE(ratio(Phase::moment2, [&](std::size_t i) { return limits[i].moment2; }), 1)
      << "moment2 " << param.name;
  EXPECT_LE(ratio(Phase::param, of_value), 1) << "param " << param.name;
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    unseen += of_value(i) <= kSeen * both.model.learning_rate ? 0U : 1U;
  }
  return unseen;
}

void expect_equal_adamw(const GoldenCase& both) {
  for (const ParamSpec& param : param_table(both.model)) {
    if (param.tied_to.empty()) {
      const std::size_t unseen = expect_equal_adamw(both, param);
      EXPECT_EQ(unseen > 0, is_zero_in_theory(param.name)) << param.name << ": " << unseen;
    }
  }
}

TEST(Golden, TheMicroModelWithSgdIsPyTorchs) {
  const GoldenCase both("gpt-micro", OptimizerKind::sgd);
  expect_equal_network(both);
  expect_equal_sgd(both);
}

TEST(Golden, TheMicroModelWithAdamwIsPyTorchs) {
  const GoldenCase both("gpt-micro", OptimizerKind::adamw);
  expect_equal_network(both);
  expect_equal_adamw(both);
}

TEST(Golden, TheTinyModelWithSgdIsPyTorchs) {
  const GoldenCase both("gpt-tiny", OptimizerKind::sgd);
  expect_equal_network(both);
  expect_equal_sgd(both);
}

TEST(Golden, TheTinyModelWithAdamwIsPyTorchs) {
  const GoldenCase both("gpt-tiny", OptimizerKind::adamw);
  expect_equal_network(both);
  expect_equal_adamw(both);
}

}  // namespace
}  // namespace meshparity
