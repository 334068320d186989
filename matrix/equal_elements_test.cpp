#include "matrix/equal_elements.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <numeric>
#include <vector>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(EqualElements, CountsDifferencesAndNamesTheFirst) {
  const std::vector<double> left{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> right{1, 2, 3, 4.5, 5, 6, 7, 8, 9, 12};

  const Equality found = compare_elements(left, right, 100);

  EXPECT_EQ(found.compared, 10);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(found.first, 103);
  EXPECT_EQ(found.first_left, 4);
  EXPECT_EQ(found.first_right, 4.5);
  EXPECT_EQ(found.largest, 2);
}

TEST(EqualElements, TheLargestDifferenceMayStandBeforeASmallerOne) {
  const std::vector<double> left(64, 1.0);
  std::vector<double> right = left;
  right[3] = 8;
  right[3 + 16] = 2;

  EXPECT_EQ(compare_elements(left, right, 0).largest, 7);
}

TEST(EqualElements, TheFirstDifferenceIsTheLeastOfAllParts) {
  Equality found = {1, 1, 0, 50, 1, 2, 1};

  found.add({1, 1, 0, 20, 3, 4, 1});
  found.add({1, 1, 0, 70, 5, 6, 1});

  EXPECT_EQ(found.first, 20);
  EXPECT_EQ(found.first_left, 3);
  EXPECT_EQ(found.different, 3);
}

TEST(EqualElements, MinusZeroEqualsZeroAndIsCounted) {
  const Equality found = compare_elements(std::vector<double>{0.0, -0.0, -0.0},
                                          std::vector<double>{-0.0, 0.0, -0.0}, 0);

  EXPECT_EQ(found.different, 0);
  EXPECT_EQ(found.signed_zeros, 2);
}

TEST(EqualElements, NanEqualsNothingNotEvenItself) {
  for (std::size_t at : {0, 5, 8}) {  // in the vectorised part and behind it
    std::vector<double> list(9, 1.0);
    list[at] = kNan;

    const Equality found = compare_elements(list, list, 0);

    EXPECT_EQ(found.different, 1);
    EXPECT_EQ(found.first, static_cast<std::int64_t>(at));
  }
}

TEST(EqualElements, InfinitiesOfOneSignAreEqual) {
  const double infinity = std::numeric_limits<double>::infinity();

  EXPECT_EQ(
      compare_elements(std::vector<double>{infinity}, std::vector<double>{infinity}, 0).different,
      0);
  EXPECT_EQ(
      compare_elements(std::vector<double>{infinity}, std::vector<double>{-infinity}, 0).different,
      1);
}

TEST(EqualElements, TheSmallestNumbersAreToldApart) {
  EXPECT_EQ(compare_elements(std::vector<double>{1e-310}, std::vector<double>{1.0000001e-310}, 0)
                .different,
            1);
  EXPECT_EQ(compare_elements(std::vector<double>{0}, std::vector<double>{4.9e-324}, 0).different,
            1);
}

/// A file of the list, shifted by 24 bytes.
class ListFile {
 public:
  explicit ListFile(const std::vector<double>& list)
      : range{std::filesystem::temp_directory_path() /
                  ("equal_elements_" + std::to_string(::getpid()) + "_" +
                   std::to_string(reinterpret_cast<std::uintptr_t>(this))),
              24} {
    std::ofstream file(range.file, std::ios::binary);
    file.write("012345678901234567890123", 24);
    file.write(reinterpret_cast<const char*>(list.data()),
               static_cast<std::streamsize>(list.size() * sizeof(double)));
  }
  ~ListFile() { std::filesystem::remove(range.file); }
  ListFile(const ListFile&) = delete;
  ListFile& operator=(const ListFile&) = delete;

  FileRange range;
};

TEST(EqualRanges, StreamsAcrossChunksAndFindsTheFirstDifference) {
  std::vector<double> left(200001);
  std::iota(left.begin(), left.end(), 0.0);
  std::vector<double> right = left;
  right[70000] = -1;
  right[200000] = -1;
  const ListFile a(left);
  const ListFile b(right);

  const Equality found = compare_ranges(a.range, b.range, 200001);

  EXPECT_EQ(found.compared, 200001);
  EXPECT_EQ(found.different, 2);
  EXPECT_EQ(found.first, 70000);
  EXPECT_EQ(found.first_left, 70000);
  EXPECT_EQ(found.first_right, -1);
  EXPECT_EQ(found.largest, 200001);
}

TEST(EqualRanges, AFileThatEndsBeforeIsAnError) {
  const ListFile a(std::vector<double>(10, 1.0));
  const ListFile b(std::vector<double>(9, 1.0));

  EXPECT_THROW(compare_ranges(a.range, b.range, 10), Error);
}

}  // namespace
}  // namespace meshparity
