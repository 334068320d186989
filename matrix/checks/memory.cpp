#include "matrix/checks/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/memory.hpp"

namespace meshparity {
namespace {

struct Counted {
  std::int64_t current = 0;  // bytes
  std::int64_t peak = 0;
  bool found = false;
};

/// The rank's row of a tag, chunk -1, where it has one; its peak is less than the sum of those of
/// its chunks. Else the sum over the last row of each chunk.
Counted counted(const std::vector<MemoryRow>& rows, std::string_view tag) {
  std::map<int, MemoryRow> by_chunk;
  for (const MemoryRow& row : rows) {
    if (row.tag == tag) {
      by_chunk[row.chunk] = row;
    }
  }
  Counted sum;
  for (const auto& [chunk, row] : by_chunk) {
    if (chunk < 0) {
      return {row.current, row.peak, true};
    }
    sum.found = true;
    sum.current += row.current;
    sum.peak += row.peak;
  }
  return sum;
}

class MemoryComparison {
 public:
  MemoryComparison(const JudgeContext& context, CheckResult& result)
      : context_(context), spec_(context.evidence.spec), result_(result) {}

  void check() {
    if (const auto why = why_not_compared()) {
      result_.notes.push_back(fmt::format("not compared: {}", *why));
      return;
    }
    for (const auto& [rank, reader] : context_.candidate.readers()) {
      if (rank < expect::world_of(spec_.mesh)) {
        compare(rank, reader.ledgers().memory);
      }
    }
    result_.notes.push_back(
        fmt::format("buffers are left to the candidate: at most {} bytes on a rank", buffers_));
  }

 private:
  std::optional<std::string> why_not_compared() const {
    const auto& readers = context_.candidate.readers();
    if (!readers.empty() && readers.begin()->second.header().foreign) {
      return "the candidate is of another house, which may keep other tensors";
    }
    if (context_.evidence.model.name.empty()) {
      return "the model's spec is not at hand";
    }
    return expect::why_no_calls(spec_);
  }

  void compare(int rank, const std::vector<MemoryRow>& rows) {
    const expect::Layout layout{spec_, context_.evidence.model};
    const expect::RankMemory due = expect::memory_of(layout, rank);
    for (const std::string_view tag : expect::kDueTags) {
      const Counted done = counted(rows, tag);
      if (!done.found) {
        add(rank, fmt::format("{}: {} bytes were due, the ledger has no row", tag, due.of(tag)));
        continue;
      }
      result_.compared += 2;
      const std::int64_t at_the_end = expect::left_of(tag, layout, rank);
      if (done.current != at_the_end || done.peak != due.of(tag)) {
        add(rank, fmt::format("{}: {} bytes at the end and {} at the peak, {} and {} were due", tag,
                              done.current, done.peak, at_the_end, due.of(tag)));
      }
    }
    buffers_ = std::max(buffers_, counted(rows, "buffer").peak);
  }

  void add(int rank, std::string text) {
    Finding& finding = result_.findings.emplace_back();
    finding.check = "memory";
    finding.rank = rank;
    finding.coordinate = expect::place_text(spec_, rank);
    finding.text = std::move(text);
  }

  const JudgeContext& context_;
  const CaseSpec& spec_;
  CheckResult& result_;
  std::int64_t buffers_ = 0;
};

}  // namespace

void check_memory(const JudgeContext& context, CheckResult& result) {
  MemoryComparison(context, result).check();
}

}  // namespace meshparity
