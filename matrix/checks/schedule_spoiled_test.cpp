// One row of a ledger of actions spoiled in every way, at places all over the list.
#include <gtest/gtest.h>

#include <utility>

#include "matrix/checks/schedule_cases.hpp"

namespace meshparity {
namespace {

/// One of the ways in which a row can be wrong, `at` being a place in the list.
void spoil(ActionRows& rows, std::size_t way, std::size_t at) {
  ActionRow& row = rows[at];
  switch (way) {
    case 0:
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(at), ActionRow(row));
      return;
    case 2:
      std::swap(row, rows[(at + 1) % rows.size()]);
      return;
    case 3:
      std::swap(row, rows[(at * 7 + 3) % rows.size()]);
      return;
    case 4:
      row.kind = row.kind == "W" ? "B" : "W";
      return;
    case 5:
      row.logical_end += 1;
      return;
    case 6:
      row.chunk = row.kind == "reduce" || row.kind == "step" ? row.chunk : row.chunk - 1;
      row.logical_start -= 1;
      return;
    default:
      row.mb += row.kind == "reduce" || row.kind == "step" ? 0 : 1;
      row.logical_start += 1;
  }
}

// Every way at places all over the list: always found, whatever it leads to.
TEST(ScheduleCheck, FindsWhateverIsSpoiledAnywhere) {
  for (std::size_t way = 0; way < 8; ++way) {
    for (std::size_t at = way % 3; at < 34; at += 5) {
      const int rank = static_cast<int>((way + at) % 2);
      const CheckResult result =
          schedule_of("pp2.zbv-mb3-steps1",
                      of_rank(rank, [&](ActionRows& rows) { spoil(rows, way, at % rows.size()); }));

      EXPECT_EQ(result.verdict, Verdict::diverges) << "way " << way << " at " << at;
    }
  }
}

}  // namespace
}  // namespace meshparity
