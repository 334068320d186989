#include "parallel_impl/pipeline/planted_versions.hpp"

#include <gtest/gtest.h>

#include <string>

#include "parallel_impl/backend/host_backend.hpp"
#include "parallel_impl/pipeline/weight_stash.hpp"

namespace meshparity {
namespace {

using enum ActionKind;

FaultPlan plan_of(const std::string& fault) {
  const std::string id = "llama-micro.pp2.pipedream_vsync-mb4-clip_off.fp64.host-threads";
  return FaultPlan(parse_case(fault.empty() ? id : id + "+" + fault), 0);
}

TEST(PlantedVersions, AreOneTooOldWithVerticalSyncOnly) {
  FaultPlan plan = plan_of("vsync_version_off_by_one");
  FaultPlan none = plan_of("");
  const ActionList list = {{forward, 0, 0, 0}, {forward, 0, 2, 1}, {backward, 0, 3, 2}};
  const ActionList older = {{forward, 0, 0, 0}, {forward, 0, 2, 0}, {backward, 0, 3, 1}};

  EXPECT_EQ(planted_versions(list, Schedule::pipedream_vsync, plan), older);
  EXPECT_EQ(planted_versions(list, Schedule::pipedream, plan), list);
  EXPECT_EQ(planted_versions(list, Schedule::pipedream_vsync, none), list);
}

TEST(PlantedVersions, AreTheNewestForPassesOfOneKind) {
  FaultPlan forwards = plan_of("forward_with_newest_weights");
  FaultPlan backwards = plan_of("backward_with_newest_weights");

  EXPECT_EQ(version_read({forward, 0, 4, 3}, 5, forwards), 5);
  EXPECT_EQ(version_read({backward, 0, 4, 3}, 5, forwards), 3);
  EXPECT_EQ(version_read({backward, 0, 4, 3}, 5, backwards), 5);
  EXPECT_EQ(version_read({forward, 0, 4, 3}, 5, backwards), 3);
  EXPECT_EQ(version_read({forward, 0, 4, 5}, 5, forwards), 5);
  EXPECT_EQ(forwards.fired().at(0).times, 1) << "where there is no difference it does not act";
}

/// Parameters of one rank, version k of which is k everywhere.
struct Versioned {
  explicit Versioned(const std::string& fault)
      : backend(make_host_backend<double>()),
        faults(plan_of(fault)),
        params(load_named_model(MESHPARITY_MODELS, "llama-micro"),
               Mesh(parse_case("llama-micro.single.plain.fp64.host-threads"), 0), 1, *backend),
        stash(params, *backend, faults, {{0, 2}, {1, 2}, {2, 2}}) {
    fill(0);
  }
  void fill(double value) {
    for (Param<double>& param : params.all()) {
      std::fill_n(param.own.value, param.own.count, value);
    }
  }
  void update() {
    stash.begin_update();
    fill(stash.newest());
  }

  std::unique_ptr<Backend<double>> backend;
  FaultPlan faults;
  Parameters<double> params;
  WeightStash<double> stash;
};

TEST(PlantedVersions, OfAStashThatIsTooShortAreTheNextThatItHolds) {
  Versioned rank("stash_too_short");
  rank.update();
  EXPECT_EQ(rank.stash.held(), std::vector<int>{1});
  rank.stash.use(0);
  EXPECT_EQ(rank.params.all().front().value[0], 1);
}

// Copies are made again once the fault is over; the newest is none of them.
TEST(PlantedVersions, OfAStashThatWasTooShortLeaveTheNewestInUse) {
  Versioned rank("stash_too_short-s0");
  rank.update();
  rank.faults.begin_step(1);
  rank.update();
  EXPECT_EQ(rank.stash.held(), (std::vector<int>{1, 2}));
  EXPECT_EQ(rank.params.all().front().value[0], 2);
}

TEST(PlantedVersions, StartAnUpdateFromWhatTheGradientWasTakenWith) {
  Versioned rank("");
  StaleStart<double> start;
  rank.update();
  rank.stash.use(0);
  start.keep(rank.params, *rank.backend);
  rank.stash.begin_update();

  start.put(rank.params, *rank.backend);

  EXPECT_EQ(rank.params.all().back().own.value[0], 0);
  rank.fill(2);
  start.put(rank.params, *rank.backend);
  EXPECT_EQ(rank.params.all().back().own.value[0], 2) << "once";
}

}  // namespace
}  // namespace meshparity
