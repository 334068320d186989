// Rows of an expected ledger of collectives, as they are entered.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "fixtures/dump.hpp"
#include "matrix/expect/groups.hpp"

namespace meshparity::expect {

/// Where a call is made: "layer1.mlp.down/forward", without a layer "tokens/scalar".
struct CallSite {
  int layer = -1;
  std::string role;
  std::string phase;
};

/// Axes are named without those of one rank; the case outlives the sink.
class CallSink {
 public:
  explicit CallSink(const CaseSpec& spec) : spec_(spec) {}

  void begin(int step, int mb) {
    step_ = step;
    mb_ = mb;
  }
  /// A group of one rank, or of none, is never entered.
  void add(const char* kind, const Group& group, const CallSite& site, std::int64_t count,
           ElementType type);
  std::vector<CollectiveRow> take() { return std::move(rows_); }

 private:
  const CaseSpec& spec_;
  int step_ = 0, mb_ = 0;
  std::vector<CollectiveRow> rows_;
};

}  // namespace meshparity::expect
