// Watches the progress board of the case in flight: tells when nothing has moved for too long, and
// who waits where (contracts.md §4, liveness).
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/board.hpp"

namespace meshparity {

/// The ranks of a board as a finding tells them. `rank` is the one the others wait for: it stands
/// at the least sequence number, and does not wait if any of those does not; -1 on an empty board.
struct Standstill {
  int rank = -1;
  std::string text;  // "rank 1 waits at layer0.mlp.down/forward in tp: 0 1, call 17; rank 0 ..."
};
Standstill describe_board(const std::vector<BoardLine>& board);

/// Movement is any change of the board or growth of the files beside it (ranks that have ended
/// leave their dump to be written).
class BoardWatch {
 public:
  using Clock = std::chrono::steady_clock;
  BoardWatch(std::filesystem::path folder, Clock::time_point now);

  /// Time since something last moved, as far as the looks so far can tell.
  Clock::duration still_for(Clock::time_point now);
  /// The board as it stands; empty when there is none.
  std::vector<BoardLine> lines() const;

 private:
  struct Seen {
    std::vector<std::uint64_t> board;
    std::uintmax_t bytes = 0;
    bool operator==(const Seen&) const = default;
  };
  Seen look() const;

  std::filesystem::path folder_;
  Seen seen_;
  Clock::time_point moved_;
};

}  // namespace meshparity
