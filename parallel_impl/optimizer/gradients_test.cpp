#include "parallel_impl/optimizer/gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "parallel_impl/model/test_rank.hpp"

namespace meshparity {
namespace {

ModelSpec micro() {
  return load_named_model(MESHPARITY_MODELS, "gpt-micro");
}

/// A gradient that depends on parameter and global place only.
double gradient_of(std::size_t param, std::int64_t row, std::int64_t column) {
  return std::sin(static_cast<double>(param * 1000) + static_cast<double>(row * 37 + column));
}

void fill(Parameters<double>& params) {
  for (std::size_t i = 0; i < params.all().size(); ++i) {
    Param<double>& param = params.all()[i];
    const Box& box = param.slice.box;
    for (int at = 0; at < param.slice.logical; ++at) {
      const std::int64_t row =
          at / param.slice.columns + (box.start.size() == 2 ? box.start[0] : 0);
      param.grad[at] = gradient_of(i, row, at % param.slice.columns + box.start.back());
    }
  }
}

Gradients<double> gradients_of(TestRank& rank) {
  return {{rank.mesh, rank.comm, *rank.backend, rank.recorder, rank.faults, false, {}},
          rank.params};
}

/// The norm that every rank of the layout finds.
std::set<double> norms(const std::string& case_id) {
  const CaseSpec spec = parse_case(case_id);
  const ModelSpec model = micro();
  std::set<double> found;
  std::mutex lock;
  on_ranks(spec, [&](ThreadWorld& world, int rank) {
    TestRank self(model, spec, world, rank, 1);
    fill(self.params);
    const double norm = gradients_of(self).norm(0);
    const std::lock_guard held(lock);
    found.insert(norm);
  });
  return found;
}

TEST(Gradients, TheNormHasTheSameBitsOnEveryLayout) {
  const std::set<double> single = norms("gpt-micro.single.plain.fp64.host-threads");

  EXPECT_EQ(single.size(), 1);
  EXPECT_EQ(norms("gpt-micro.tp2.plain.fp64.host-threads"), single);
  EXPECT_EQ(norms("gpt-micro.tp4.plain.fp64.host-threads"), single);
  EXPECT_EQ(norms("gpt-micro.dp2-tp2.plain.fp64.host-threads"), single);
}

TEST(Gradients, TheNormCountsEachDistinctElementOnce) {
  long double squares = 0;
  const std::vector<ParamSpec> table = param_table(micro());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::int64_t columns = table[i].shape.back();
    const std::int64_t count = table[i].tied_to.empty() ? element_count(table[i].shape) : 0;
    for (std::int64_t at = 0; at < count; ++at) {
      const double value = gradient_of(i, at / columns, at % columns);
      squares += static_cast<long double>(value) * value;
    }
  }

  // Each square is rounded once: half an ulp of the sum at most, and the root halves it.
  EXPECT_DOUBLE_EQ(*norms("gpt-micro.tp2.plain.fp64.host-threads").begin(),
                   static_cast<double>(std::sqrt(squares)));
}

struct Alone {
  ModelSpec model = micro();
  CaseSpec spec = parse_case("gpt-micro.single.plain.fp64.host-threads");
  ThreadWorld world{{"single"}};
  TestRank rank{model, spec, world, 0, 1};
};

TEST(Gradients, TheTwoUsesOfATiedWeightAreAdded) {
  Alone alone;
  alone.rank.params.at("embed.weight").grad[5] = 2;
  alone.rank.params.at("head.weight").grad[5] = 40;

  gradients_of(alone.rank).tie(0);

  EXPECT_EQ(alone.rank.params.at("embed.weight").grad[5], 42);
  EXPECT_EQ(alone.rank.params.at("head.weight").grad[5], 42);
}

TEST(Gradients, AreDividedByTheTokensAndZeroWithoutAny) {
  Alone alone;
  double& value = alone.rank.params.at("final_norm.bias").grad[0];
  value = 6;

  gradients_of(alone.rank).divide_by(4);
  EXPECT_EQ(value, 1.5);
  gradients_of(alone.rank).divide_by(0);
  EXPECT_EQ(value, 0);
}

TEST(ClipCoefficient, IsOneBelowTheLimitAndKeepsNaN) {
  EXPECT_EQ(clip_coefficient(2, 1), 1);
  EXPECT_EQ(clip_coefficient(2, 0), 1);
  EXPECT_EQ(clip_coefficient(1, 3), 1 / (3 + 1e-6));
  EXPECT_TRUE(std::isnan(clip_coefficient(1, std::nan(""))));
}

}  // namespace
}  // namespace meshparity
