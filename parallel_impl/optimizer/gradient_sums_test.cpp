#include "parallel_impl/optimizer/gradient_sums.hpp"

#include <gtest/gtest.h>

#include "parallel_impl/model/test_rank.hpp"

namespace meshparity {
namespace {

ModelSpec micro() {
  return load_named_model(MESHPARITY_MODELS, "gpt-micro");
}

GradientSums<double> sums_of(TestRank& rank, const CaseSpec& spec) {
  return {{spec, rank.mesh, rank.comm, *rank.backend, rank.recorder, rank.faults}, rank.params};
}

TEST(GradientSums, AreInCanonicalOrder) {
  const CaseSpec spec = parse_case("gpt-micro.dp4.plain.fp64.host-threads");
  const ModelSpec model = micro();
  const double large = 9007199254740992.0;  // 2^53: 1 + 1 + 2^53 - 2^53 is 2, not 0, 1 or 4
  const double held[4] = {1, 1, large, -large};
  on_ranks(spec, [&](ThreadWorld& world, int rank) {
    TestRank self(model, spec, world, rank, 1);
    double& value = self.params.at("final_norm.bias").grad[3];
    value = held[rank];

    sums_of(self, spec).reduce(0);

    EXPECT_EQ(value, 2);
  });
}

/// A rank's parameters cut as the case says, and its sums.
struct CutRank {
  CutRank(TestRank& rank, const CaseSpec& spec, const ModelSpec& model)
      : params(model, rank.mesh, initial_source(1), *rank.backend,
               {single_chunk(), bucket_rules(spec)}),
        sums({spec, rank.mesh, rank.comm, *rank.backend, rank.recorder, rank.faults}, params) {}

  Parameters<double> params;
  GradientSums<double> sums;
};

/// Micro-batches 0, 1 and 2 begin one after the other and are completed later, as when a schedule
/// splits the backward pass; each adds 1 + 10 mb + 100 rank to every element.
void three_in_flight(CutRank& self, int rank) {
  for (int mb = 0; mb < 3; ++mb) {
    self.sums.begin(0, mb);
    for (Param<double>& param : self.params.all()) {
      for (int at = 0; at < param.count(); ++at) {
        param.grad[at] += 1 + 10 * mb + 100 * rank;
      }
    }
  }
  for (int mb = 0; mb < 3; ++mb) {
    self.sums.begin(0, mb);
    self.sums.complete(0, 0, mb);
  }
  self.sums.reduce(0);
}

TEST(GradientSums, OfMicroBatchesInFlightTogetherReachTheirOwners) {
  const ModelSpec model = micro();
  for (const char* layout : {"zero2", "zero3_param-overlap_off", "zero2-bucket1-overlap_off"}) {
    const CaseSpec spec =
        parse_case(std::string("gpt-micro.dp3.mb3-") + layout + ".fp64.host-threads");
    on_ranks(spec, [&](ThreadWorld& world, int rank) {
      TestRank unit(model, spec, world, rank, 1);
      CutRank self(unit, spec, model);

      three_in_flight(self, rank);
      three_in_flight(self, rank);

      // Twice, three ranks each: 3 x (1 + 11 + 21) + 3 x (0 + 100 + 200).
      std::int64_t owned = 0;
      for (const Param<double>& param : self.params.all()) {
        owned += param.own.count;
        for (int at = 0; at < param.own.count; ++at) {
          ASSERT_EQ(param.own.grad[at], 2 * (99 + 900)) << layout << " " << param.spec.name;
        }
      }
      EXPECT_GT(owned, 0);
    });
  }
}

// 2^53 + 1 is no double: 1 + 1 + 2^53 - 2^53 is 2 in this order only.
TEST(GradientSums, AreAddedInTheOrderOfMicroBatches) {
  const ModelSpec model = micro();
  const CaseSpec spec = parse_case("gpt-micro.dp2.mb4-zero2.fp64.host-threads");
  const double large = 9007199254740992.0;
  const double held[4] = {1, 1, large, -large};
  on_ranks(spec, [&](ThreadWorld& world, int rank) {
    TestRank unit(model, spec, world, rank, 1);
    CutRank self(unit, spec, model);
    const auto begin = [&](int mb) {
      self.sums.begin(0, mb);
      self.params.at("embed.weight").grad[0] = rank == 0 ? held[mb] : 0;
    };
    const auto complete = [&](int mb) {
      self.sums.begin(0, mb);
      self.sums.complete(0, 0, mb);
    };

    begin(0);
    begin(1);
    complete(0);
    begin(2);
    complete(1);
    complete(2);
    begin(3);
    complete(3);
    self.sums.reduce(0);

    if (rank == 0) {
      EXPECT_EQ(self.params.at("embed.weight").own.grad[0], 2);
    }
  });
}

}  // namespace
}  // namespace meshparity
