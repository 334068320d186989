// For golden_test: one case in the numbers of PyTorch's autograd and in those of the reference
// program. PyTorch's are made by fixtures/golden/make_golden.py from the same raw inputs.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/param_table.hpp"
#include "fixtures/record_table.hpp"
#include "fixtures/step_place.hpp"

namespace meshparity {

/// What a golden file keeps of one tensor.
struct Kept {
  std::vector<std::int64_t> at;  // places in the flattened tensor
  std::vector<double> values;    // there
  double norm = 0;               // of the whole tensor
  double largest = 0;            // magnitude, of the whole tensor
};

struct RecordKey {
  Phase phase = Phase::forward;
  int step = 0;
  std::string record;
  auto operator<=>(const RecordKey&) const = default;
};

class GoldenCase {
 public:
  /// Reads the golden file and runs the reference program at `level`. Throws Error when the file
  /// is of another case and when the reference fails.
  GoldenCase(const std::string& case_id, const std::filesystem::path& golden, Level level);

  /// As if PyTorch had left nothing of a gradient, in every step.
  void forget_gradient(const std::string& parameter);

  const std::map<RecordKey, Kept>& golden() const { return golden_; }
  const Kept& kept(Phase phase, int step, const std::string& record) const;
  const std::vector<double>& ours(const RecordKey& key) const;
  double scalar(int step, const std::string& record) const;
  /// 1 where nothing is clipped for want of a norm.
  double clip_coefficient(int step) const;
  /// The larger of all gradients' magnitudes in a step.
  double largest_gradient(int step) const;

  const CaseSpec& spec() const { return spec_; }
  const ModelSpec& model() const { return model_; }
  const std::vector<ParamSpec>& parameters() const { return parameters_; }
  const std::vector<RecordSpec>& records() const { return records_; }
  int last_step() const { return step_count(spec_) - 1; }
  /// All but the one that loss scaling skips.
  std::vector<int> taken_steps() const;

 private:
  void run_reference(Level level);

  CaseSpec spec_;
  ModelSpec model_;
  std::vector<ParamSpec> parameters_;
  std::vector<RecordSpec> records_;
  std::map<RecordKey, Kept> golden_;
  std::map<RecordKey, std::vector<double>> ours_;
};

/// True where the interpreter has what make_golden.py needs.
bool torch_is_here();
/// Makes the golden file of a case in `folder`, with every element. Throws Error when the script
/// fails.
std::filesystem::path make_golden(const std::string& case_id, const std::filesystem::path& folder,
                                  bool all_records);

}  // namespace meshparity
