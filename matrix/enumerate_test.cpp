#include "matrix/enumerate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path kMatrix = std::filesystem::path(__FILE__).parent_path();

class EnumerateTest : public testing::Test {
 protected:
  EnumerateTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    source_.suites = kMatrix / "suites";
    source_.models = kMatrix.parent_path() / "fixtures" / "models";
    source_.text_hash = [] { return std::string("0123abcd"); };
  }
  Selection suite(const std::string& meshes, const std::string& features, const std::string& data) {
    const std::filesystem::path file = folder_ / "my.toml";
    std::ofstream(file) << "[[cases]]\nmodels = [\"gpt-tiny\"]\nmeshes = [" << meshes
                        << "]\nfeatures = [" << features << "]\ndata = [" << data
                        << "]\nprecisions = [\"fp64\"]\nmachines = [\"host-threads\"]\n";
    return {file.string(), {}, {}};
  }
  std::vector<std::string> ids(const Selection& selection) {
    std::vector<std::string> ids;
    for (const PlannedCase& planned : enumerate(selection, source_).cases) {
      ids.push_back(planned.id);
    }
    return ids;
  }
  std::string refusal(const Selection& selection) {
    try {
      enumerate(selection, source_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path folder_;
  CaseSource source_;
};

TEST_F(EnumerateTest, CrossesASuiteInStableOrder) {
  EXPECT_THAT(ids(suite(R"("single", "dp2")", R"("plain", "sgd")", R"("zipf", "text")")),
              ElementsAre("gpt-tiny.single.plain.fp64.host-threads",
                          "gpt-tiny.single.text_0123abcd.fp64.host-threads",
                          "gpt-tiny.single.sgd.fp64.host-threads",
                          "gpt-tiny.single.sgd-text_0123abcd.fp64.host-threads",
                          "gpt-tiny.dp2.plain.fp64.host-threads",
                          "gpt-tiny.dp2.text_0123abcd.fp64.host-threads",
                          "gpt-tiny.dp2.sgd.fp64.host-threads",
                          "gpt-tiny.dp2.sgd-text_0123abcd.fp64.host-threads"));
}

TEST_F(EnumerateTest, KeepsEachIdOnce) {
  EXPECT_THAT(ids(suite(R"("dp2", "dp2")", R"("plain")", R"("zipf")")),
              ElementsAre("gpt-tiny.dp2.plain.fp64.host-threads"));
}

TEST_F(EnumerateTest, KeepsWhatMatchesAnyGlob) {
  Selection selection = suite(R"("single", "dp2", "tp2")", R"("plain")", R"("zipf")");
  selection.only = {"*.dp2.*", "*single*"};

  EXPECT_THAT(ids(selection), ElementsAre("gpt-tiny.single.plain.fp64.host-threads",
                                          "gpt-tiny.dp2.plain.fp64.host-threads"));
}

TEST_F(EnumerateTest, RefusesASelectionThatMatchesNothing) {
  Selection selection = suite(R"("single")", R"("plain")", R"("zipf")");
  selection.only = {"*.tp2.*"};

  EXPECT_THAT(refusal(selection), HasSubstr("matches *.tp2.*"));
}

TEST_F(EnumerateTest, RefusesRelationsOfNoNamedCase) {
  Selection selection = suite(R"("single")", R"("plain")", R"("zipf")");
  selection.relations = {"repeat"};

  EXPECT_THAT(refusal(selection), StartsWith("relation repeat of which cases?"));
}

TEST_F(EnumerateTest, ExcludesAnIllegalLayoutWithItsReason) {
  const auto cases = enumerate(suite(R"("tp4", "tp5")", R"("plain")", R"("zipf")"), source_).cases;

  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].excluded, "");
  EXPECT_THAT(cases[1].excluded, HasSubstr("tp 5"));
}

TEST_F(EnumerateTest, ExcludesWhatIsNotBuiltYet) {
  const auto cases = enumerate({"", {}, {"gpt-tiny.dp2.packed.fp64.host-threads"}}, source_).cases;

  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].excluded, "\"packed\" is not built yet");
}

TEST_F(EnumerateTest, NamesThePlaceOfAWordThatIsNone) {
  const Selection selection = suite(R"("dp2")", R"("sdg")", R"("zipf")");

  EXPECT_THAT(refusal(selection), StartsWith(selection.suite + ":1: "));
  EXPECT_THAT(refusal(selection), HasSubstr("sdg"));
}

TEST_F(EnumerateTest, ReadsAModelOnceAndHashesItsFile) {
  const auto cases = enumerate(suite(R"("single")", R"("plain")", R"("zipf")"), source_).cases;

  EXPECT_EQ(cases[0].model.heads, 24);
  EXPECT_EQ(cases[0].model_file_hash, sha256_hex_of_file(source_.models / "gpt-tiny.toml"));
}

TEST_F(EnumerateTest, RefusesAModelFileOfAnotherHash) {
  EXPECT_THAT(refusal({"", {}, {"gpt-tiny@00000000.single.plain.fp64.host-threads"}}),
              HasSubstr("gpt-tiny@00000000"));
}

TEST_F(EnumerateTest, FindsNoCaseOfOurSuitesIllegal) {
  for (const std::string name : {"smoke", "singles"}) {
    int runnable = 0;
    for (const PlannedCase& planned : enumerate({name, {}, {}}, source_).cases) {
      runnable += planned.excluded.empty() ? 1 : 0;
      EXPECT_THAT(planned.excluded, testing::AnyOf("", HasSubstr("is not built yet")))
          << planned.id;
    }
    EXPECT_GE(runnable, 5) << name;
  }
}

TEST_F(EnumerateTest, FindsThePartnerOfEachRelation) {
  Selection selection{"", {}, {"gpt-micro.dp2-tp2.sp.fp64.host-threads"}};
  selection.relations = {"rank_order", "sp", "rank_order"};

  const Enumeration found = enumerate(selection, source_);

  EXPECT_TRUE(found.cases.empty());
  ASSERT_EQ(found.relations.size(), 2u);
  EXPECT_EQ(found.relations[0].partner.id,
            "gpt-micro.dp2-tp2.sp-order_pp_dp_ep_cp_tp.fp64.host-threads");
  EXPECT_EQ(found.relations[1].partner.id, "gpt-micro.dp2-tp2.plain.fp64.host-threads");
}

TEST_F(EnumerateTest, ExcludesARelationThatSaysNothingOfTheCase) {
  Selection selection{"", {}, {"gpt-micro.dp2.plain.fp64.host-threads"}};
  selection.relations = {"tp1"};

  EXPECT_EQ(enumerate(selection, source_).relations.at(0).excluded,
            "relation tp1 says nothing of this case");
}

TEST_F(EnumerateTest, ReadsRelationsOfASuite) {
  const std::filesystem::path file = folder_ / "pairs.toml";
  std::ofstream(file) << "[[relations]]\nrelations = [\"repeat\"]\nmodels = [\"gpt-micro\"]\n"
                         "meshes = [\"dp2\"]\nfeatures = [\"plain\"]\ndata = [\"zipf\"]\n"
                         "precisions = [\"fp64\"]\nmachines = [\"host-threads\"]\n";

  const Enumeration found = enumerate({file.string(), {}, {}}, source_);

  ASSERT_EQ(found.relations.size(), 1u);
  EXPECT_EQ(found.relations[0].first.id, "gpt-micro.dp2.plain.fp64.host-threads");
  EXPECT_TRUE(found.relations[0].again);
}

TEST_F(EnumerateTest, RefusesAnUnknownRelation) {
  Selection selection{"", {}, {"gpt-micro.dp2.plain.fp64.host-threads"}};
  selection.relations = {"repaet"};

  EXPECT_THAT(refusal(selection), StartsWith("no relation is named repaet; there are repeat, "));
}

TEST(Glob, KnowsStarsMarksAndSets) {
  EXPECT_TRUE(matches_glob("gpt-tiny.dp2.plain", "*.dp2.*"));
  EXPECT_TRUE(matches_glob("dp2", "dp?"));
  EXPECT_TRUE(matches_glob("dp3", "dp[23]"));
  EXPECT_FALSE(matches_glob("dp4", "dp[23]"));
  EXPECT_FALSE(matches_glob("gpt-tiny.dp2", "dp2"));
}

}  // namespace
}  // namespace meshparity
