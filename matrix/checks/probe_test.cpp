// Dumps of a probe of gpt-micro, tp2 and dp2, written by hand with one gap each.
#include "matrix/checks/probe.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fixtures/scratch_folder.hpp"
#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/judge_probe.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

using Values = std::vector<double>;
using Edit = std::function<void(int rank, Piece& piece, Values& values)>;

class ProbeDump {
 public:
  explicit ProbeDump(const std::string& rest = "dp2-tp2.steps1.fp64.host-threads+probe")
      : model(load_named_model(MESHPARITY_MODELS, "gpt-micro")),
        spec(parse_case("gpt-micro." + rest)) {}

  CheckResult coverage(const Edit& edit = {}) {
    for (int rank = 0; rank < spec.mesh.world_size(); ++rank) {
      write(rank, edit);
    }
    Evidence evidence;
    evidence.spec = spec;
    evidence.model = model;
    evidence.candidate = scratch_.path();
    const CaseReport report = judge(evidence);
    EXPECT_EQ(result_of(report, "collectives").verdict, Verdict::conforms) << findings_text(report);
    EXPECT_FALSE(result_of(report, "forward").evidence);
    return result_of(report, "coverage");
  }

  ModelSpec model;
  CaseSpec spec;

 private:
  void write(int rank, const Edit& edit) const {
    const expect::RankPlace place = expect::place_of(spec, rank);
    DumpHeader header;
    header.case_id = format_case(spec);
    header.world = spec.mesh.world_size();
    header.rank = rank;
    header.dense_coordinate = place.dense;
    header.expert_coordinate = place.expert;
    DumpWriter writer(scratch_.path() / rank_file_name(rank), header);
    for (int step = 0; step < spec.steps; ++step) {
      for (const RecordSpec& record : record_table(model, spec)) {
        if (is_recorded(record, spec, step)) {
          write_piece(writer, rank, step, record, edit);
        }
      }
    }
    Ledgers ledgers;
    ledgers.collectives = expect::calls_of({spec, model}, Level::standard, rank);
    writer.write_ledgers(ledgers);
    writer.complete();
  }

  /// By hand: tp cuts matrices of q, k, v, up by columns, out, down and the vocabulary by rows, and
  /// the biases of the first; gradients hold the index once a replica.
  void write_piece(DumpWriter& writer, int rank, int step, const RecordSpec& record,
                   const Edit& edit) const {
    Piece piece;
    piece.record = record.name;
    piece.phase = record.phase;
    piece.step = step;
    piece.order = record.order;
    const Box box = box_of(record, rank % spec.mesh.degree(Axis::tp));
    piece.placement = BoxPlacement{{box}};
    piece.shared_over = box.extent == record.shape ? "dp,tp" : "dp";
    const double times = record.phase == Phase::grad ? spec.mesh.degree(Axis::dp) : 1;
    Values values;
    for (std::int64_t row = 0; row < box.extent.front(); ++row) {
      const bool matrix = record.shape.size() == 2;
      for (std::int64_t column = 0; column < (matrix ? box.extent[1] : 1); ++column) {
        const std::int64_t index =
            matrix ? (box.start[0] + row) * record.shape[1] + box.start[1] + column
                   : box.start[0] + row;
        values.push_back(step == 0 ? times * static_cast<double>(index) : 0);
      }
    }
    if (edit) {
      edit(rank, piece, values);
    }
    writer.write(std::move(piece), values);
  }

  Box box_of(const RecordSpec& record, int tp_index) const {
    const std::string& name = record.name;
    Box box{std::vector<std::int64_t>(record.shape.size(), 0), record.shape};
    const auto is = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (spec.mesh.degree(Axis::tp) == 1) {
      return box;
    }
    if (is("attn.q") || is("attn.k") || is("attn.v") || is("mlp.up")) {
      box.extent.back() /= 2;
      box.start.back() = tp_index * box.extent.back();
    } else if (is("out.weight") || is("down.weight")) {
      box.extent[0] /= 2;
      box.start[0] = tp_index * box.extent[0];
    } else if (name == "embed.weight" || name == "head.weight") {  // 13 of 16 rows
      box.start[0] = tp_index * 8;
      box.extent[0] = tp_index == 0 ? 8 : 5;
    }
    return box;
  }

  ScratchFolder scratch_;
};

bool is(const Piece& piece, Phase phase, const std::string& record) {
  return piece.phase == phase && piece.record == record;
}

std::string texts(const CheckResult& result) {
  std::string all;
  for (const Finding& finding : result.findings) {
    all += fmt::format("{} {} rank {}: {}\n", phase_name(finding.phase), finding.record,
                       finding.rank, finding.text);
  }
  return all;
}

TEST(ProbeCheck, ConformsWhenEveryElementShowsItsIndex) {
  const CheckResult result = ProbeDump().coverage();

  EXPECT_EQ(result.verdict, Verdict::conforms) << texts(result);
  EXPECT_GT(result.compared, 4 * 4 * 300);
}

// Columns 3 and 4 of a weight of 8 change sides between the two tensor ranks.
TEST(ProbeCheck, FindsTwoColumnsSwappedAtARanksBorder) {
  const CheckResult result = ProbeDump().coverage([](int rank, Piece& piece, Values& values) {
    if (is(piece, Phase::param, "layer0.attn.k.weight")) {
      for (std::size_t row = 0; row < 8; ++row) {
        const auto base = static_cast<double>(8 * row);
        values[4 * row + (rank % 2 == 0 ? 3 : 0)] = base + (rank % 2 == 0 ? 4 : 3);
      }
    }
  });

  ASSERT_EQ(result.findings.size(), 1u) << texts(result);
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.gravity, Verdict::diverges);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(finding.rank, 0);
  EXPECT_EQ(finding.coordinate, "dp0 tp0");
  EXPECT_EQ(finding.reference, 3);
  EXPECT_EQ(finding.candidate, 4);
  EXPECT_EQ(finding.text, "3 is due at [0, 3], rank 0 (dp0 tp0) holds 4, as is due at [0, 4]");
}

TEST(ProbeCheck, FindsABiasShardThatBeginsOneElementEarly) {
  const CheckResult result = ProbeDump().coverage([](int rank, Piece& piece, Values& values) {
    if (is(piece, Phase::moment2, "layer0.mlp.up.bias") && rank == 3) {
      for (double& value : values) {
        value -= 1;
      }
    }
  });

  ASSERT_EQ(result.findings.size(), 1u) << texts(result);
  EXPECT_EQ(result.findings[0].phase, Phase::moment2);
  EXPECT_EQ(result.findings[0].text, "6 is due at [6], rank 3 (dp1 tp1) holds 5, as is due at [5]");
}

TEST(ProbeCheck, FindsAnElementThatWasReducedTwice) {
  const CheckResult result = ProbeDump().coverage([](int, Piece& piece, Values& values) {
    if (is(piece, Phase::grad, "layer0.norm2.bias")) {
      values[5] *= 2;
    }
  });

  ASSERT_EQ(result.findings.size(), 1u) << texts(result);
  EXPECT_EQ(result.findings[0].text,
            "10 is due at [5], rank 0 (dp0 tp0) holds 20, as after 4 contributions instead of 2");
}

TEST(ProbeCheck, FindsNan) {
  const CheckResult result = ProbeDump().coverage([](int rank, Piece& piece, Values& values) {
    if (is(piece, Phase::moment1, "head.weight") && rank == 2) {
      values[0] = std::numeric_limits<double>::quiet_NaN();
    }
  });

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].rank, 2);
}

// Both ranks exchanged what they hold and say so: all is covered, and every value is its index.
TEST(ProbeCheck, FindsRanksThatHoldEachOthersPart) {
  const CheckResult result =
      ProbeDump("tp2.steps1.fp64.host-threads+probe")
          .coverage([](int rank, Piece& piece, Values& values) {
            if (is(piece, Phase::param, "layer0.attn.q.bias")) {
              const double first = rank == 0 ? 4 : 0;
              piece.placement = BoxPlacement{{Box{{rank == 0 ? 4 : 0}, {4}}}};
              values = {first, first + 1, first + 2, first + 3};
            }
          });

  ASSERT_EQ(result.findings.size(), 1u) << texts(result);
  EXPECT_THAT(
      result.findings[0].text,
      HasSubstr("rank 0 (tp0) holds 4 elements from [4], where 4 elements from [0] are its own"));
}

TEST(ProbeCheck, FindsAMissingRecordAndAnUnknownOne) {
  const CheckResult result =
      ProbeDump("single.steps1.fp64.host-threads+probe").coverage([](int, Piece& piece, Values&) {
        if (is(piece, Phase::grad, "layer0.norm2.bias")) {
          piece.record = "layer0.norm3.bias";
        }
      });

  EXPECT_EQ(result.findings.size(), 2u) << texts(result);
}

TEST(ProbeCheck, ShowsDigitsOfLargeIndices) {
  EXPECT_EQ(shown_index(65535, 0), 65535);
  EXPECT_EQ(shown_index(65536, 0), 0);
  EXPECT_EQ(shown_index(65536, 1), 1);
  EXPECT_EQ(shown_index(5 + 3LL * 65536 * 65536, 2), 3);
}

// 8,193 x 8 elements are more than one digit tells apart.
TEST(ProbeCheck, IsInconclusiveWhereTheStepsDoNotShowAllDigits) {
  ProbeDump dump("single.steps1.fp64.host-threads+probe");
  dump.model.sequence = 8193;

  const CheckResult result = dump.coverage([](int, Piece& piece, Values& values) {
    if (piece.record == "embed.position") {
      for (double& value : values) {
        value = std::fmod(value, 65536);
      }
    }
  });

  EXPECT_EQ(result.verdict, Verdict::inconclusive) << texts(result);
  EXPECT_THAT(texts(result), HasSubstr("ask for steps2"));
}

}  // namespace
}  // namespace meshparity
