// Sequence parallelism: rows between tensor-parallel regions are cut over the same ranks. What it
// must not change it does not change, bit for bit; what it adds to the traffic is counted.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fixtures/param_table.hpp"
#include "fixtures/record_table.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

std::string id_of(const std::string& layout) {
  return layout + ".fp64.host-threads";
}
CaseRun run(const std::string& layout) {
  CaseRun made = run_whole_case(id_of(layout), Level::all);
  EXPECT_EQ(made.complaints, std::vector<std::string>()) << layout;
  return made;
}

struct Pair {
  const char* cut;
  const char* whole;
};
// Five tokens a sample: dp4 leaves 5 rows a micro-batch, 3 and 2 on tp2, 2 1 1 1 on tp4.
constexpr Pair kPairs[] = {
    {"gpt-micro.tp2.sp", "gpt-micro.tp2.plain"},
    {"gpt-micro.dp2-tp4.sp-mb2", "gpt-micro.dp2-tp4.mb2"},
    {"llama-micro.dp4-tp2.sp", "llama-micro.dp4-tp2.plain"},
    {"llama-micro.tp4.sp-mb4", "llama-micro.tp4.mb4"},
    {"mixed-micro.dp2-tp4.sp-mb2-smooth0", "mixed-micro.dp2-tp4.mb2-smooth0"},
    {"mixed-micro.tp2.sp-drop0", "mixed-micro.tp2.drop0"},
};

TEST(SequenceParallelism, ChangesNoBitOfTheFirstStepButOfWhatSumsOverRows) {
  for (const auto& [cut_id, whole_id] : kPairs) {
    const CaseRun cut = run(cut_id);
    const CaseRun whole = run(whole_id);
    for (const char* prefix : {"step0/forward", "step0/loss", "step0/backward"}) {
      EXPECT_EQ(differing(whole, cut, prefix), std::vector<std::string>()) << cut_id;
    }
    const CaseSpec spec = parse_case(id_of(cut_id));
    for (const ParamSpec& param : param_table(load_named_model(MESHPARITY_MODELS, spec.model))) {
      if (param.shape.size() == 2) {
        const std::string key = "step0/grad/" + param.name;
        EXPECT_EQ(cut.records.at(key), whole.records.at(key)) << cut_id << " " << key;
      }
    }
  }
}

TEST(SequenceParallelism, RecordsEverything) {
  for (const auto& [cut_id, whole_id] : kPairs) {
    const CaseRun cut = run(cut_id);
    const CaseSpec spec = parse_case(id_of(cut_id));
    for (const RecordSpec& entry :
         record_table(load_named_model(MESHPARITY_MODELS, spec.model), spec)) {
      const std::string name = "step2/" + std::string(phase_name(entry.phase)) + "/" + entry.name;
      EXPECT_TRUE(cut.records.contains(name)) << cut_id << " " << name;
    }
  }
}

/// Relative distance by Euclidean norms; NaN makes it NaN.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += (a[i] - b[i]) * (a[i] - b[i]);
    size += a[i] * a[i];
  }
  return std::sqrt(apart / (size > 0 ? size : 1));
}

TEST(SequenceParallelism, DiffersFromOneRankByRoundingOnlyOverThreeStepsOfSgd) {
  for (const char* model : {"gpt-micro", "llama-micro", "mixed-micro"}) {
    const CaseRun one = run(std::string(model) + ".single.sgd");
    const CaseRun cut = run(std::string(model) + ".dp2-tp4.sp-mb2-sgd");
    for (const auto& [name, values] : one.records) {
      // A key bias that no score shows has a gradient of rounding noise.
      const bool is_noise = name.find("attn.k.bias") != name.npos && model[0] == 'g';
      const double apart = is_noise ? 0 : distance(values, cut.records.at(name));
      EXPECT_TRUE(apart <= 1e-12) << model << " " << name << " " << apart;
    }
  }
}

TEST(SequenceParallelism, SmallerSharesThanRanksLeaveTheLastOnesWithoutRows) {
  // One sample of 17 tokens on 24 ranks.
  const CaseRun cut =
      run_whole_case("gpt-tiny.dp2-tp24.sp-mb24-steps1.fp64.host-threads", Level::standard);
  const CaseRun whole =
      run_whole_case("gpt-tiny.dp2-tp24.mb24-steps1.fp64.host-threads", Level::standard);

  EXPECT_EQ(cut.complaints, std::vector<std::string>());
  EXPECT_EQ(differing(whole, cut, "step0/backward"), std::vector<std::string>());
}

/// Calls and elements by "site kind", of one rank.
std::map<std::string, std::pair<int, std::int64_t>> traffic(const CaseRun& run, std::size_t rank) {
  std::map<std::string, std::pair<int, std::int64_t>> found;
  for (const CollectiveRow& row : run.collectives[rank]) {
    auto& entry = found[row.site + " " + row.kind];
    ++entry.first;
    entry.second = row.count;
  }
  return found;
}

TEST(SequenceParallelism, GathersAndScattersWhereTheSumsWere) {
  const std::int64_t hidden = 2 * 5 * 8, tokens = 2 * 5;
  const std::map<std::string, std::pair<int, std::int64_t>> expected = {
      {"embed/forward reduce_scatter", {2, hidden}},
      {"layer0.attn.qkv/forward all_gather", {2, hidden}},
      {"layer0.attn.out/forward reduce_scatter", {2, hidden}},
      {"layer0.mlp.up/forward all_gather", {2, hidden}},
      {"layer0.mlp.down/forward reduce_scatter", {2, hidden}},
      {"head/forward all_gather", {2, hidden}},
      {"loss.max/forward all_reduce", {2, tokens}},
      {"loss.target/forward all_reduce", {2, tokens}},
      {"loss.sum/forward all_reduce", {2, 2 * tokens}},
      {"head.input/backward all_gather", {2, hidden}},
      {"head/backward reduce_scatter", {2, hidden}},
      {"layer0.mlp.down/backward all_gather", {2, hidden}},
      {"layer0.mlp.up.input/backward all_gather", {2, hidden}},
      {"layer0.mlp.up/backward reduce_scatter", {2, hidden}},
      {"layer0.attn.out/backward all_gather", {2, hidden}},
      {"layer0.attn.qkv.input/backward all_gather", {2, hidden}},
      {"layer0.attn.qkv/backward reduce_scatter", {2, hidden}},
      {"embed/backward all_gather", {2, hidden}},
      // Weights and biases of three norms, biases of the two row-parallel linears.
      {"grad.sp/grad all_reduce", {1, (3 * 2 + 2) * 8}},
      {"norm/scalar all_reduce", {1, 71}},
  };

  EXPECT_EQ(traffic(run("gpt-micro.tp2.sp-mb2-steps1"), 1), expected);
}

}  // namespace
}  // namespace meshparity
