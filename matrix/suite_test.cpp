#include "matrix/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;

constexpr std::string_view kGood = R"(
[[cases]]
models = ["gpt-tiny"]
meshes = ["single", "dp2"]
features = ["plain"]
data = ["zipf", "text"]
precisions = ["fp64"]
machines = ["host-threads"]
)";

std::string refusal(const std::string& toml) {
  try {
    parse_suite(toml, "my.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with(std::string_view line, std::string_view replacement) {
  std::string text(kGood);
  return text.replace(text.find(line), line.size(), replacement);
}

TEST(Suite, ReadsItsBlocks) {
  const Suite suite = parse_suite(kGood, "my.toml");

  ASSERT_EQ(suite.blocks.size(), 1u);
  EXPECT_EQ(suite.blocks[0].line, 2);
  EXPECT_THAT(suite.blocks[0].meshes, ElementsAre("single", "dp2"));
  EXPECT_THAT(suite.blocks[0].data, ElementsAre("zipf", "text"));
}

TEST(Suite, RefusesBrokenTomlWithFileAndLine) {
  EXPECT_THAT(refusal(with("meshes = [", "meshes = ]")), testing::StartsWith("my.toml:4: "));
}

TEST(Suite, RefusesAnUnknownKeyWithFileAndLine) {
  EXPECT_THAT(refusal(with("machines", "machine")),
              testing::StartsWith("my.toml:8: unknown key \"machine\""));
}

TEST(Suite, RefusesAMissingKey) {
  EXPECT_EQ(refusal(with("features = [\"plain\"]\n", "")),
            "my.toml:2: this [[cases]] has no \"features\"");
}

TEST(Suite, RefusesAnEmptyList) {
  EXPECT_EQ(refusal(with("[\"fp64\"]", "[]")),
            "my.toml:7: precisions must be a list of texts that is not empty");
}

TEST(Suite, RefusesWhatIsNoText) {
  EXPECT_EQ(refusal(with("[\"plain\"]", "[1]")),
            "my.toml:5: features holds something that is no text");
}

TEST(Suite, RefusesUnknownData) {
  EXPECT_EQ(refusal(with("\"text\"", "\"texts\"")),
            "my.toml:2: data \"texts\" is neither \"zipf\" nor \"text\"");
}

TEST(Suite, RefusesASuiteWithoutCases) {
  EXPECT_EQ(refusal("# nothing\n"),
            "my.toml:1: a suite holds at least one [[cases]], [[relations]] or [[covers]] table");
}

TEST(Suite, WantsTheRelationsOfARelationsTable) {
  EXPECT_EQ(refusal(with("[[cases]]", "[[relations]]")),
            "my.toml:2: this [[relations]] has no \"relations\"");
}

TEST(Suite, RefusesRelationsOfACasesTable) {
  EXPECT_THAT(refusal(with("data =", "relations = [\"repeat\"]\ndata =")),
              testing::StartsWith("my.toml:6: unknown key \"relations\""));
}

constexpr std::string_view kCover = R"(
[[covers]]
strength = 2
world_at_most = 16

[covers.factors]
model = ["gpt-tiny"]
dp = ["dp1", "dp2"]

[[covers.restrict]]
value = "dp2"
to = ["gpt-tiny"]
)";

std::string cover_refusal(std::string_view line, std::string_view replacement) {
  std::string text(kCover);
  return refusal(text.replace(text.find(line), line.size(), replacement));
}

TEST(Suite, ReadsItsCovers) {
  const Suite suite = parse_suite(kCover, "my.toml");

  ASSERT_EQ(suite.covers.size(), 1u);
  EXPECT_EQ(suite.covers[0].strength, 2u);
  EXPECT_EQ(suite.covers[0].world_at_most, 16);
  ASSERT_EQ(suite.covers[0].factors.size(), 2u);
  EXPECT_EQ(suite.covers[0].factors[0].name, "dp");
  EXPECT_THAT(suite.covers[0].factors[0].values, ElementsAre("dp1", "dp2"));
  ASSERT_EQ(suite.covers[0].restrictions.size(), 1u);
  EXPECT_EQ(suite.covers[0].restrictions[0].value, "dp2");
}

TEST(Suite, RefusesACoverThatIsNone) {
  EXPECT_EQ(cover_refusal("strength = 2", "strength = 4"),
            "my.toml:2: \"strength\" must be a number from 1 to 3");
  EXPECT_EQ(cover_refusal("world_at_most = 16\n", ""),
            "my.toml:2: \"world_at_most\" must be a number from 1 to 64");
  EXPECT_THAT(cover_refusal("strength", "strenth"),
              testing::StartsWith("my.toml:3: unknown key \"strenth\""));
  EXPECT_THAT(cover_refusal("model", "models"),
              testing::HasSubstr("has no table [covers.factors] with the models"));
  EXPECT_THAT(cover_refusal("to =", "two ="), testing::StartsWith("my.toml:12: unknown key"));
}

TEST(Suite, ListsTheNamesThatExist) {
  const std::filesystem::path here = std::filesystem::path(__FILE__).parent_path() / "suites";

  try {
    load_suite(here, "everything");
    FAIL() << "it exists";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "suite \"everything\" does not exist; suites are exact, full, gpu, gpu_exact, "
                 "orders, pairs, pairs_bf16, schedules, singles, smoke, triples, or a path that "
                 "ends in .toml");
  }
}

}  // namespace
}  // namespace meshparity
