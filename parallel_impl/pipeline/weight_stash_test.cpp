// Which versions of a stage's weights are held when, what they are, and how much memory they take.
#include "parallel_impl/pipeline/weight_stash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

CaseSpec spec_of(const std::string& mesh, const std::string& features) {
  return parse_case("llama-micro." + mesh + "." + features + ".fp64.host-threads");
}

using Reads = std::map<int, int>;

/// Parameters of one rank, and a stash for a list that reads versions as often as `reads` says.
class Stashed {
 public:
  explicit Stashed(Reads reads, const CaseSpec& spec = spec_of("single", "plain"))
      : backend_(make_host_backend<double>()),
        faults_(spec, 0),
        params_(load_named_model(MESHPARITY_MODELS, "llama-micro"),
                Mesh(spec_of("single", "plain"), 0), 1, *backend_),
        stash_(params_, *backend_, faults_, std::move(reads)) {
    fill(0);
  }

  WeightStash<double>& stash() { return stash_; }
  /// What layers would read: one number for all parameters, or NaN where they differ.
  double in_use() {
    const double first = params_.all().front().value[0];
    for (const Param<double>& param : params_.all()) {
      const bool equal = std::all_of(param.value, param.value + param.count(),
                                     [&](double value) { return value == first; });
      if (!equal) {
        return std::numeric_limits<double>::quiet_NaN();
      }
    }
    return first;
  }
  /// Version k is k everywhere.
  void update() {
    stash_.begin_update();
    fill(stash_.newest());
  }
  std::string held() const { return fmt::format("{}", fmt::join(stash_.held(), " ")); }
  /// In sets of all parameters.
  double peak() const { return sets(backend_->use(MemoryTag::parameter).peak); }
  double current() const { return sets(backend_->use(MemoryTag::parameter).current); }

 private:
  void fill(double value) {
    for (Param<double>& param : params_.all()) {
      std::fill_n(param.own.value, param.own.count, value);
    }
  }
  double sets(std::int64_t bytes) const {
    std::int64_t one = 0;
    for (const StoredBucket<double>& bucket : const_cast<Parameters<double>&>(params_).buckets()) {
      one += bucket.values.count() * 8;
    }
    return static_cast<double>(bytes) / static_cast<double>(one);
  }

  std::unique_ptr<Backend<double>> backend_;
  FaultPlan faults_;
  Parameters<double> params_;
  WeightStash<double> stash_;
};

TEST(WeightStash, HoldsAVersionUntilItsLastReadIsOver) {
  Stashed rank(Reads{{0, 2}, {1, 1}});

  EXPECT_EQ(rank.held(), "0");
  rank.update();
  EXPECT_EQ(rank.held(), "0 1");
  rank.stash().read(0);
  rank.update();
  EXPECT_EQ(rank.held(), "0 1 2");
  rank.stash().read(0);
  EXPECT_EQ(rank.held(), "1 2");
  rank.stash().read(1);
  EXPECT_EQ(rank.held(), "2");
  EXPECT_EQ(rank.peak(), 3);
  EXPECT_EQ(rank.current(), 1);
}

TEST(WeightStash, KeepsNothingOfAVersionThatNobodyReadsAgain) {
  Stashed rank(Reads{{0, 1}, {2, 1}});
  rank.stash().read(0);

  rank.update();
  rank.update();

  EXPECT_EQ(rank.held(), "2");
  EXPECT_EQ(rank.peak(), 1);
}

TEST(WeightStash, AnOldVersionHasItsValuesAndTheNewestIsUpdated) {
  Stashed rank(Reads{{0, 1}, {1, 1}});
  rank.update();
  rank.update();

  rank.stash().use(0);
  EXPECT_EQ(rank.in_use(), 0);
  rank.stash().use(1);
  EXPECT_EQ(rank.in_use(), 1);
  rank.update();
  EXPECT_EQ(rank.in_use(), 3) << "the newest is in use after an update";
  rank.stash().use(1);
  EXPECT_EQ(rank.in_use(), 1) << "an update changes no older version";
}

TEST(WeightStash, SaysWhichVersionItDoesNotHold) {
  Stashed rank(Reads{{0, 1}});
  rank.stash().read(0);
  rank.update();

  EXPECT_THAT([&] { rank.stash().use(0); },
              ThrowsMessage<Error>(HasSubstr("weights of version 0 are asked for, 1 updates")));
}

/// The most versions that a stage holds while it goes through its list, each pass seeing the
/// version that it names; at the end it holds one.
double most_held(const std::string& features, int stages, int stage) {
  const CaseSpec spec = spec_of(fmt::format("pp{}", stages), features);
  ModelSpec model;
  model.layers = stages;
  const ActionList list = work_of(spec, Stages(spec, model), stage);
  Stashed rank(reads_of(list));
  for (const Action& action : list) {
    if (action.kind == ActionKind::step) {
      rank.update();
    } else if (action.kind != ActionKind::reduce) {
      rank.stash().use(action.version);
      EXPECT_EQ(rank.in_use(), action.version);
      if (spec.schedule == Schedule::pipedream && action.kind == ActionKind::forward) {
        EXPECT_EQ(action.version, rank.stash().newest());
      }
      rank.stash().read(action.version);
    }
  }
  EXPECT_EQ(rank.current(), 1) << features;
  return rank.peak();
}

// algorithms.md §3.9 and §3.5, with enough micro-batches for the steady state.
TEST(WeightStash, HoldsAsManyVersionsAsTheScheduleSays) {
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(most_held("pipedream-mb6-clip_off-steps2", 4, stage), 4 - stage);
    EXPECT_EQ(most_held("pipedream_vsync-mb6-clip_off-steps2", 4, stage), 4);
    EXPECT_EQ(most_held("pipedream_2bw-mb4-clip_off", 4, stage), 2);
  }
  EXPECT_EQ(most_held("pipedream_2bw-mb4-clip_off-steps1", 4, 0), 1);
}

}  // namespace
}  // namespace meshparity
