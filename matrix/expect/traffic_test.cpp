// Closed forms of algorithms.md §11.1 against the list of calls, layout by layout.
#include "matrix/expect/traffic.hpp"

#include <gtest/gtest.h>

#include "fixtures/legality.hpp"

namespace meshparity::expect {
namespace {

AxisTraffic along(const std::vector<CollectiveRow>& rows, const std::string& axis, int step) {
  std::vector<CollectiveRow> of_step;
  for (const CollectiveRow& row : rows) {
    if (row.step == step) {
      of_step.push_back(row);
    }
  }
  for (const AxisTraffic& each : traffic_of(of_step)) {
    if (each.axis == axis) {
      return each;
    }
  }
  return {axis, 0, 0};
}

// gpt-micro.tp2.mb2: A = 80, T = 10, L = 1: 2 (80 * 6 + 10 * 4) = 1,040 numbers in 18 calls, and 71
// integers.
TEST(Traffic, OfOneLayerIsWhatOneCountsByHand) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro.tp2.mb2.fp64.host-threads");

  EXPECT_EQ(tp_traffic({spec, model}), (AxisTraffic{"tp", 19, (1040 + 71) * 8}));
}

// Its 21 tensors: embedding and head 128 each, positions 40, norms 3 x 16, q k v out 72 each, up
// 8 x 12 + 12, down 12 x 8 + 8, together 844; and 72 integers.
TEST(Traffic, OfAReplicaIsEveryParameterOnce) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro.dp2.plain.fp32.host-threads");

  EXPECT_EQ(dp_traffic({spec, model}), (AxisTraffic{"dp", 22, 844 * 4 + 72 * 8}));
}

TEST(Traffic, InClosedFormIsThatOfTheListInEveryLayout) {
  int layouts = 0;
  for (const char* name :
       {"gpt-micro", "llama-micro", "mixed-micro", "gpt-tiny", "llama-tiny", "mixed-tiny"}) {
    const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
    for (const char* mesh : {"dp2", "tp2", "tp3", "tp4", "tp6", "tp8", "dp2-tp2", "dp4-tp12"}) {
      for (const char* features : {"plain", "mb2", "lscale", "smooth0", "sp", "sp-mb2-lscale"}) {
        for (const char* precision : {"fp64", "fp32"}) {
          const CaseSpec spec = parse_case(std::string(name) + "." + mesh + "." + features + "." +
                                           precision + ".host-threads");
          if (why_illegal(model, spec)) {
            continue;
          }
          const int last = spec.mesh.world_size() - 1;
          const auto rows = calls_of({spec, model}, Level::standard, last);
          SCOPED_TRACE(format_case(spec));
          ASSERT_EQ(along(rows, "tp", 0), tp_traffic({spec, model}));
          ASSERT_EQ(along(rows, "dp", 2), dp_traffic({spec, model}));
          ++layouts;
        }
      }
    }
  }
  EXPECT_GT(layouts, 200);
}

}  // namespace
}  // namespace meshparity::expect
