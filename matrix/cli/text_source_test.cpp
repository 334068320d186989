#include "matrix/cli/text_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TextSourceTest : public testing::Test {
 protected:
  TextSourceTest() { fs::create_directories(texts()); }
  fs::path texts() const { return scratch_ / "texts"; }
  fs::path cache() const { return scratch_ / "cache"; }
  void write(const std::string& name, char letter, std::size_t count) const {
    std::ofstream(texts() / name) << std::string(count, letter);
  }

  ScratchFolder scratch_;
};

TEST_F(TextSourceTest, JoinsRegularFilesInTheOrderOfTheirNamesWithoutLinks) {
  write("b", 'b', 60000);
  write("a", 'a', 50000);
  fs::create_symlink(texts() / "a", texts() / "c");
  const std::string expected = std::string(50000, 'a') + std::string(60000, 'b');

  const TextSource text = joined_text(texts(), cache());

  EXPECT_EQ(bytes_of(text.file), expected);
  EXPECT_EQ(text.hash8, hash8(expected));
  EXPECT_EQ(text.file, cache() / "texts" / ("licences-" + text.hash8 + ".txt"));
}

TEST_F(TextSourceTest, WritesAgainWhatWasChangedUnderItsName) {
  write("a", 'a', 100000);
  const TextSource text = joined_text(texts(), cache());
  std::ofstream(text.file) << "something else";

  joined_text(texts(), cache());

  EXPECT_EQ(bytes_of(text.file), std::string(100000, 'a'));
}

TEST_F(TextSourceTest, AsksForATextWhereTheDefaultIsTooShort) {
  write("a", 'a', 99999);

  const std::string refusal = message_of<UsageError>([&] { joined_text(texts(), cache()); });

  EXPECT_THAT(refusal, HasSubstr("has 99999 bytes"));
  EXPECT_THAT(refusal, HasSubstr("--text FILE"));
}

TEST_F(TextSourceTest, AsksForATextWhereThereIsNone) {
  const std::string refusal =
      message_of<UsageError>([&] { joined_text(scratch_ / "absent", cache()); });

  EXPECT_THAT(refusal, HasSubstr("--text FILE"));
}

TEST_F(TextSourceTest, TakesTheTextThatIsGiven) {
  const fs::path mine = scratch_.write("mine", std::string(2000, 'x'));

  const TextSource text = find_text(mine, cache());

  EXPECT_EQ(text.file, mine);
  EXPECT_EQ(text.hash8, hash8(std::string(2000, 'x')));
  EXPECT_FALSE(fs::exists(cache()));
}

}  // namespace
}  // namespace meshparity
