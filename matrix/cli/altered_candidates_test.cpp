// Real programs end to end: every step of AdamW is judged, and a candidate's dump that is altered
// by hand, as a wrong optimizer would have left it, is found by its law or at the next step.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kCase = "gpt-micro.single.plain.fp64.host-threads";
constexpr const char* kBias = "layer0.mlp.up.bias";  // does not decay

struct Ran {
  int exit = -1;
  std::string out;
};

Ran run_program(const std::string& words) {
  std::FILE* pipe = ::popen(fmt::format("{} {} 2>&1", MESHPARITY_PROGRAM, words).c_str(), "r");
  Ran ran;
  std::array<char, 4096> bytes;
  for (std::size_t got; (got = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    ran.out.append(bytes.data(), got);
  }
  ran.exit = WEXITSTATUS(::pclose(pipe));
  return ran;
}

using Values = std::vector<double>;
using Edit = std::function<void(const Piece& piece, Values& values)>;

bool is(const Piece& piece, int step, Phase phase, const std::string& record) {
  return piece.step == step && piece.phase == phase && piece.record == record;
}

Values record_of(const DumpReader& dump, int step, Phase phase, const std::string& record) {
  for (const Piece& piece : dump.pieces()) {
    if (is(piece, step, phase, record)) {
      return dump.read(piece);
    }
  }
  throw Error("no such record: " + record);
}

/// A clean run of kCase with its reference, and copies of its dump.
class CleanRun {
 public:
  CleanRun() {
    const Ran ran =
        run_program(fmt::format("run {} --keep all --cache {} --out {}", kCase,
                                (scratch_ / "cache").string(), (scratch_ / "out").string()));
    EXPECT_EQ(ran.exit, 0) << ran.out;
  }

  fs::path dump() const { return scratch_ / "out" / kCase / "dump"; }
  DumpReader reader() const { return DumpReader(dump() / rank_file_name(0)); }
  nlohmann::json report() const {
    std::ifstream in(scratch_ / "out" / "results.jsonl");
    return nlohmann::json::parse(in);
  }

  Ran compare(const fs::path& candidate) const {
    const auto entry = *fs::directory_iterator(scratch_ / "cache" / "references");
    return run_program(fmt::format("compare {} {}", entry.path().string(), candidate.string()));
  }

  Ran compare_altered(const std::string& name, const Edit& edit) const {
    fs::create_directory(scratch_ / name);
    const DumpReader from = reader();
    DumpWriter to(scratch_ / name / rank_file_name(0), from.header());
    for (const Piece& piece : from.pieces()) {
      if (piece.type == ElementType::int64) {
        to.write_integers(piece, from.read_integers(piece));
        continue;
      }
      Values values = from.read(piece);
      edit(piece, values);
      to.write(piece, values);
    }
    to.write_ledgers(from.ledgers());
    to.complete();
    return compare(scratch_ / name);
  }

  /// The last update of kBias made by another formula.
  Ran compare_updated(const std::string& name,
                      const std::function<double(double, double, double)>& formula) const {
    const DumpReader clean = reader();
    const Values theta = record_of(clean, 1, Phase::param, kBias);
    const Values m = record_of(clean, 2, Phase::moment1, kBias);
    const Values v = record_of(clean, 2, Phase::moment2, kBias);
    return compare_altered(name, [&](const Piece& piece, Values& values) {
      for (std::size_t i = 0; is(piece, 2, Phase::param, kBias) && i < values.size(); ++i) {
        values[i] = formula(theta[i], m[i], v[i]);
      }
    });
  }

 private:
  ScratchFolder scratch_;
};

TEST(AlteredCandidates, EveryStepOfACleanOneIsJudgedByNoiseAndByLaw) {
  const CleanRun run;
  std::map<std::string, std::set<int>> steps;
  const nlohmann::json report = run.report();
  for (const nlohmann::json& check : report.at("checks")) {
    for (const nlohmann::json& margin : check.at("margins")) {
      const std::string kind = margin.at("statistic") == "L" ? "law " : "";
      steps[kind + margin.at("phase").get<std::string>()].insert(margin.at("step").get<int>());
      EXPECT_LE(margin.at("margin").get<double>(), 1);
    }
    EXPECT_EQ(check.at("notes").dump().find("not compared"), std::string::npos);
  }
  const std::set<int> all = {0, 1, 2};
  for (const char* kind : {"forward", "loss", "backward", "grad", "scalar", "law loss",
                           "law scalar", "law moment1", "law moment2", "law param"}) {
    EXPECT_EQ(steps[kind], all) << kind;
  }
  EXPECT_EQ(run.compare(run.dump()).exit, 0);
  EXPECT_EQ(run.compare_altered("copied", [](const Piece&, Values&) {}).exit, 0);
}

TEST(AlteredCandidates, AWrongUpdateIsFoundByItsLaw) {
  const CleanRun run;
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const double lr = model.learning_rate;
  const double eps = model.adam_epsilon;
  const double c1 = 1 - std::pow(model.beta1, 3);
  const double c2 = 1 - std::pow(model.beta2, 3);
  const auto expect_found = [&](const std::string& name,
                                const std::function<double(double, double, double)>& formula) {
    const Ran ran = run.compare_updated(name, formula);
    EXPECT_EQ(ran.exit, 1) << name << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("param {} step 2", kBias))) << name;
  };
  expect_found("eps-in-root", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / std::sqrt(v / c2 + eps);
  });
  expect_found("eps-squared", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / std::sqrt(v / c2 + eps * eps);
  });
  expect_found("eps-early", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / ((std::sqrt(v) + eps) / std::sqrt(c2));
  });
  expect_found("skipped", [](double theta, double, double) { return theta; });
  expect_found("nan", [](double, double, double) { return std::nan(""); });
  const Ran right = run.compare_updated("right", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / (std::sqrt(v / c2) + eps);
  });
  EXPECT_EQ(right.exit, 0) << right.out;
}

TEST(AlteredCandidates, AWrongClipIsFoundByItsLaw) {
  const CleanRun run;
  const Ran coefficient =
      run.compare_altered("coefficient", [](const Piece& piece, Values& values) {
        values[0] *= is(piece, 1, Phase::scalar, "clip_coef") ? 1 + 1e-9 : 1;
      });
  double squares = 0;
  for (const double g : record_of(run.reader(), 1, Phase::grad, "layer0.norm2.bias")) {
    squares += g * g;
  }
  const Ran norm = run.compare_altered("norm", [=](const Piece& piece, Values& values) {
    if (is(piece, 1, Phase::scalar, "grad_norm")) {
      values[0] = std::sqrt(values[0] * values[0] + squares);
    }
  });

  EXPECT_EQ(coefficient.exit, 1);
  EXPECT_THAT(coefficient.out, HasSubstr("law clip_coefficient: error"));
  EXPECT_EQ(norm.exit, 1);
  EXPECT_THAT(norm.out, HasSubstr("law clip_norm: error"));
}

// The dump says that the weight moved in step 0; had step 1 used it, its forward pass would have
// been another.
TEST(AlteredCandidates, AStaleWeightIsFoundAtTheNextStep) {
  const CleanRun run;
  const std::string record = "layer0.attn.out.weight";

  const Ran ran = run.compare_altered("stale", [&](const Piece& piece, Values& values) {
    if (is(piece, 0, Phase::param, record)) {
      for (double& value : values) {
        value += 1e-3;  // one more step of Adam
      }
    }
  });

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("forward layer0.attn.out step 1"));
}

}  // namespace
}  // namespace meshparity
