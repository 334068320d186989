#include "matrix/checks/liveness.hpp"

#include <fmt/format.h>

#include "fixtures/board.hpp"
#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

std::string_view state_name(RankState state) {
  switch (state) {
    case RankState::not_begun:
      return "has not begun";
    case RankState::running:
      return "is running";
    case RankState::waiting:
      return "waits";
    case RankState::ended:
      return "has ended";
    case RankState::failed:
      return "has failed";
  }
  return "?";
}

/// "rank 1 (dp0 tp1) waits at layer0.mlp.down/forward, collective 12, for tp: 0 1"
std::string line_text(const CaseSpec& spec, int rank, const BoardLine& line) {
  std::string text =
      fmt::format("rank {} ({}) {}", rank, expect::place_text(spec, rank), state_name(line.state));
  if (!line.site.empty()) {
    const bool waits = line.state == RankState::waiting;
    text += fmt::format(" {}{}, collective {}", waits ? "at " : "after ", line.site, line.sequence);
  }
  if (line.state == RankState::waiting) {
    text += fmt::format(", for {}", line.group);
  }
  return text;
}

/// The rank that the outcome does not name: the first that failed, else the first that neither
/// waits nor has ended, else the one behind all others that wait. -1 when nobody stands out.
int suspect_of(const std::vector<BoardLine>& board) {
  for (const RankState state : {RankState::failed, RankState::running, RankState::not_begun}) {
    for (std::size_t r = 0; r < board.size(); ++r) {
      if (board[r].state == state) {
        return static_cast<int>(r);
      }
    }
  }
  int behind = -1;
  for (std::size_t r = 0; r < board.size(); ++r) {
    const bool waits = board[r].state == RankState::waiting;
    if (waits &&
        (behind < 0 || board[r].sequence < board[static_cast<std::size_t>(behind)].sequence)) {
      behind = static_cast<int>(r);
    }
  }
  return behind;
}

std::vector<BoardLine> board_of(const Evidence& evidence, CheckResult& result) {
  if (evidence.board.empty()) {
    return {};
  }
  try {
    return read_board(evidence.board);
  } catch (const Error& error) {
    result.notes.push_back(error.what());
    return {};
  }
}

Finding finding_of(const Evidence& evidence, const std::vector<BoardLine>& board) {
  const LaunchOutcome& outcome = evidence.outcome;
  Finding finding;
  finding.check = "liveness";
  finding.gravity = outcome.never_began ? Verdict::inconclusive : Verdict::diverges;
  finding.rank = outcome.rank >= 0 || outcome.never_began ? outcome.rank : suspect_of(board);
  const bool known = finding.rank >= 0 && finding.rank < expect::world_of(evidence.spec.mesh);
  if (known) {
    finding.coordinate = expect::place_text(evidence.spec, finding.rank);
  }
  finding.text = outcome.what.empty() ? "the launch ended without a word" : outcome.what;
  std::string lines;
  for (std::size_t r = 0; r < board.size(); ++r) {
    lines += fmt::format("{}{}", lines.empty() ? "" : "; ",
                         line_text(evidence.spec, static_cast<int>(r), board[r]));
  }
  finding.derivation = lines.empty() ? "no progress board" : "progress board: " + lines;
  return finding;
}

}  // namespace

CheckResult check_liveness(const Evidence& evidence) {
  CheckResult result;
  result.check = "liveness";
  result.compared = expect::world_of(evidence.spec.mesh);
  if (evidence.outcome.finished) {
    return result;
  }
  const std::vector<BoardLine> board = board_of(evidence, result);
  result.findings.push_back(finding_of(evidence, board));
  result.verdict = result.findings.front().gravity;
  return result;
}

}  // namespace meshparity
