#include "matrix/assemble.hpp"

#include <algorithm>

namespace meshparity {
namespace {

struct OwnedRun {
  Run run;
  const PlacedPiece* piece = nullptr;
};

std::vector<OwnedRun> sorted_runs(const Copy& copy) {
  std::vector<OwnedRun> runs;
  for (const PlacedPiece* piece : copy.pieces) {
    for (const Run& run : piece->runs) {
      runs.push_back({run, piece});
    }
  }
  // Equal begins keep the order of the pieces, so that the pair named is always the same.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const OwnedRun& a, const OwnedRun& b) { return a.run.begin < b.run.begin; });
  return runs;
}

/// The first run of demanded elements in [from, to).
std::optional<Violation> hole_between(std::int64_t from, std::int64_t to,
                                      std::span<const std::uint8_t> mask) {
  const auto demanded = [&](std::int64_t element) {
    return mask.empty() || mask[static_cast<std::size_t>(element)] != 0;
  };
  while (from < to && !demanded(from)) {
    ++from;
  }
  std::int64_t end = from;
  while (end < to && demanded(end)) {
    ++end;
  }
  if (from == end) {
    return std::nullopt;
  }
  return Violation{Violation::Kind::hole, from, end - from, nullptr, nullptr};
}

}  // namespace

std::optional<Violation> first_violation(const Copy& copy, std::int64_t elements,
                                         std::span<const std::uint8_t> mask) {
  std::int64_t covered = 0;  // all before it are accounted for
  const PlacedPiece* last = nullptr;
  for (const OwnedRun& owned : sorted_runs(copy)) {
    const auto& [run, piece] = owned;
    if (run.begin < covered) {
      const std::int64_t end = std::min(covered, run.begin + run.count);
      return Violation{Violation::Kind::overlap, run.begin, end - run.begin, last, piece};
    }
    if (const auto hole = hole_between(covered, run.begin, mask)) {
      return hole;
    }
    covered = run.begin + run.count;
    last = piece;
  }
  return hole_between(covered, elements, mask);
}

std::optional<Owner> owner_of(const Copy& copy, std::int64_t element) {
  for (const PlacedPiece* piece : copy.pieces) {
    const std::int64_t place = place_in_runs(piece->runs, element);
    if (place >= 0) {
      return Owner{piece, place};
    }
  }
  return std::nullopt;
}

}  // namespace meshparity
