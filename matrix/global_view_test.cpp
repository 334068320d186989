// A dump of two ranks by hand, read back by h5py, which knows nothing of ours.
#include "matrix/global_view.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<double>;

void add(DumpWriter& writer, const std::string& record, Placement placement, const Values& values) {
  Piece piece;
  piece.record = record;
  piece.phase = Phase::grad;
  piece.placement = std::move(placement);
  writer.write(piece, values);
}

DumpHeader header_of(int rank) {
  DumpHeader header;
  header.case_id = "gpt-micro.tp2.plain.fp64.host-threads";
  header.world = 2;
  header.rank = rank;
  return header;
}

/// columns [2, 4] is 0 to 7, its columns cut in two. rows [2, 3] is 10 to 15: rank 0 has the first
/// row and one element of the second, rank 1 the rest. whole [2] is on both. torn [3] lacks its
/// middle.
class TwoRanks {
 public:
  TwoRanks() {
    DumpWriter first(scratch_ / rank_file_name(0), header_of(0));
    add(first, "columns", BoxPlacement{{{{0, 0}, {2, 2}}}}, {0, 1, 4, 5});
    add(first, "rows", BoxPlacement{{{{0, 0}, {1, 3}}, {{1, 0}, {1, 1}}}}, {10, 11, 12, 13});
    add(first, "whole", BoxPlacement{{{{0}, {2}}}}, {7, 8});
    add(first, "torn", BoxPlacement{{{{0}, {1}}}}, {1});
    add(first, "flat", FlatPlacement{{{0}, {4}}, 0, 2}, {1, 2});
    first.complete();
    DumpWriter second(scratch_ / rank_file_name(1), header_of(1));
    add(second, "columns", BoxPlacement{{{{0, 2}, {2, 2}}}}, {2, 3, 6, 7});
    add(second, "rows", BoxPlacement{{{{1, 1}, {1, 2}}}}, {14, 15});
    add(second, "whole", BoxPlacement{{{{0}, {2}}}}, {7, 8});
    add(second, "torn", BoxPlacement{{{{2}, {1}}}}, {3});
    second.complete();
  }

  fs::path dump() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

/// What Python prints, run in a folder that is not the dump's.
std::string python(const std::string& program, const fs::path& file) {
  const ScratchFolder scratch;
  Launch launch({MESHPARITY_PYTHON, "-c", program, file.string()}, scratch / "stderr");
  std::string out, line;
  while (launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line) {
    out += line + "\n";
  }
  launch.wait();
  std::ifstream err(scratch / "stderr");
  return out + std::string(std::istreambuf_iterator<char>(err), {});
}

constexpr const char* kPrintAll =
    "import h5py, sys\n"
    "with h5py.File(sys.argv[1]) as f:\n"
    "    for name in sorted(f['step0/grad']):\n"
    "        d = f['step0/grad'][name]\n"
    "        print(name, d.shape, d.is_virtual, d[...].tolist())\n";

TEST(GlobalView, ShowsEachRecordWholeToReadersThatKnowNothingOfOurs) {
  if (python("import h5py", "").find("Error") != std::string::npos) {
    GTEST_SKIP() << MESHPARITY_PYTHON << " has no h5py";
  }
  const TwoRanks ranks;

  const GlobalView view = write_global_view(ranks.dump());

  EXPECT_EQ(view.records, 4);
  EXPECT_EQ(python(kPrintAll, view.file),
            "columns (2, 4) True [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]\n"
            "rows (2, 3) True [[10.0, 11.0, 12.0], [13.0, 14.0, 15.0]]\n"
            "torn (3,) True [1.0, nan, 3.0]\n"
            "whole (2,) True [7.0, 8.0]\n");
}

TEST(GlobalView, SaysWhatItLeavesOut) {
  const TwoRanks ranks;

  EXPECT_THAT(write_global_view(ranks.dump()).left_out, ElementsAre("grad flat step 0"));
}

TEST(GlobalView, RefusesWhatIsNoDumpAndWritesNothingOver) {
  const TwoRanks ranks;
  const ScratchFolder empty;
  write_global_view(ranks.dump());

  EXPECT_THAT(message_of<UsageError>([&] { write_global_view(ranks.dump()); }),
              HasSubstr("exists already"));
  EXPECT_THAT(message_of<UsageError>([&] { write_global_view(empty.path()); }),
              HasSubstr("has no rank_0000.h5"));
  EXPECT_THAT(message_of<UsageError>([&] { write_global_view("/absent"); }),
              HasSubstr("is no folder"));
}

}  // namespace
}  // namespace meshparity
