// One thread's share of a batch: the workspace of a sample, and the sums of a group of samples.
#pragma once
#include <cstddef>
#include <vector>

#include "reference/batch.hpp"

namespace meshparity::reference {

class BatchWorker {
 public:
  BatchWorker(const BatchPlan& plan, BatchOutput& output);

  BatchSums empty_sums() const;
  /// Runs samples first ... last-1 from zero sums.
  void run(int first, int last);
  const BatchSums& sums() const { return sums_; }

 private:
  /// A record made by sample: where it goes, and replica k's deviation of this sample in row k.
  struct Recorded {
    RecordSpec record;
    std::size_t place = 0;
    Matrix deviations;
  };

  void run_sample(int index);
  void run_once(const Weights& weights, const Sample& sample, Rounding rounding, SampleWork& work,
                RunSums& sums);
  void store_exact(int index);
  void note_deviations(std::size_t replica);
  void summarise(int index);

  const BatchPlan* plan_;
  BatchOutput* output_;
  SampleWork exact_;
  SampleWork noisy_;
  std::vector<Recorded> recorded_;
  BatchSums sums_;
};

}  // namespace meshparity::reference
