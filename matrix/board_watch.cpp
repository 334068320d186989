#include "matrix/board_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kRanksTold = 8;

std::string describe_rank(std::size_t rank, const BoardLine& line) {
  switch (line.state) {
    case RankState::not_begun:
      return fmt::format("rank {} has not begun", rank);
    case RankState::waiting:
      return fmt::format("rank {} waits at {} in {}, call {}", rank, line.site, line.group,
                         line.sequence);
    case RankState::ended:
      return fmt::format("rank {} has ended after {} calls", rank, line.sequence);
    case RankState::failed:
      return fmt::format("rank {} has failed after {} calls", rank, line.sequence);
    case RankState::running:
      break;
  }
  return fmt::format("rank {} runs in {}, last at {}, call {}", rank,
                     line.phase.empty() ? "no phase" : line.phase,
                     line.site.empty() ? "no site" : line.site, line.sequence);
}

// The one waited for first: not waiting before waiting, then by least sequence number.
bool stands_before(const BoardLine& a, const BoardLine& b) {
  if (a.sequence != b.sequence) {
    return a.sequence < b.sequence;
  }
  return a.state != RankState::waiting && b.state == RankState::waiting;
}

}  // namespace

Standstill describe_board(const std::vector<BoardLine>& board) {
  if (board.empty()) {
    return {-1, "no rank has written to the board"};
  }
  const auto least = std::min_element(board.begin(), board.end(), stands_before);
  const auto first = static_cast<std::size_t>(least - board.begin());
  std::vector<std::string> told = {describe_rank(first, board[first])};
  for (std::size_t rank = 0; rank < board.size() && told.size() < kRanksTold; ++rank) {
    if (rank != first) {
      told.push_back(describe_rank(rank, board[rank]));
    }
  }
  std::string text = fmt::format("{}", fmt::join(told, "; "));
  if (told.size() < board.size()) {
    text += fmt::format("; and {} ranks more", board.size() - told.size());
  }
  return {static_cast<int>(first), text};
}

BoardWatch::BoardWatch(std::filesystem::path folder, Clock::time_point now)
    : folder_(std::move(folder)), seen_(look()), moved_(now) {}

BoardWatch::Clock::duration BoardWatch::still_for(Clock::time_point now) {
  Seen now_seen = look();
  if (now_seen != seen_) {
    seen_ = std::move(now_seen);
    moved_ = now;
  }
  return now - moved_;
}

std::vector<BoardLine> BoardWatch::lines() const {
  try {
    return read_board(folder_ / "board.bin");
  } catch (const Error&) {
    // A board that is being created is not yet one; it is read again at the next look.
    return {};
  }
}

BoardWatch::Seen BoardWatch::look() const {
  Seen seen;
  for (const BoardLine& line : lines()) {
    seen.board.insert(seen.board.end(),
                      {static_cast<std::uint64_t>(line.state), line.sequence, line.heartbeat});
  }
  std::error_code none;  // the folder may vanish while we look
  for (std::filesystem::directory_iterator it(folder_, none), end; !none && it != end;
       it.increment(none)) {
    const std::uintmax_t size = it->is_regular_file(none) ? it->file_size(none) : 0;
    seen.bytes += none ? 0 : size;
    none.clear();
  }
  return seen;
}

}  // namespace meshparity
