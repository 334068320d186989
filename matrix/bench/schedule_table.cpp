// What pipelines did beside what their formulas say (algorithms.md §3.9, §11.2, §11.3): bubbles on
// the ledger's clock, micro-batches in flight, bytes by the allocator's own counters.
//
//   meshparity run --suite schedules --keep all --out DIR;  schedule_table MODELS DIR
//
// Exits with 1 where one figure is not the other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/compound_features.hpp"
#include "fixtures/error.hpp"
#include "matrix/checks/executed_actions.hpp"
#include "matrix/dump_set.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/memory.hpp"
#include "matrix/expect/schedule_figures.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

/// "3 = 3", "4 / 3 !": what was done and what was due.
class Pairing {
 public:
  template <class T>
  std::string text(const T& done, const T& due) {
    unequal_ += done == due ? 0 : 1;
    return done == due ? fmt::format("{}", done) : fmt::format("{} / {} !", done, due);
  }
  int unequal() const { return unequal_; }

 private:
  int unequal_ = 0;
};

std::int64_t peak_of(const std::vector<MemoryRow>& rows, std::string_view tag) {
  std::int64_t peak = 0;
  for (const MemoryRow& row : rows) {
    peak = std::max(peak, row.tag == tag && row.chunk < 0 ? row.peak : 0);
  }
  return peak;
}

class CaseTable {
 public:
  CaseTable(const fs::path& models, const fs::path& dump, Pairing& pairing)
      : dump_(dump),
        spec_(parse_case(dump_.header().case_id)),
        model_(load_named_model(models, spec_.model)),
        pairing_(pairing) {
    require_readable(dump_);
    for (const int rank : expect::peers(spec_, 0, std::array{Axis::pp})) {
      ranks_.push_back(rank);
      lists_.push_back(executed_lists(spec_, dump_.readers().at(rank).ledgers().actions));
    }
  }

  bool is_pipeline() const { return ranks_.size() > 1; }

  void print() {
    fmt::print("{:<16} p {} m {:<3} {}\n", write_schedule(spec_), ranks_.size(),
               expect::micro_batches_of_list(spec_), bubble_text());
    for (std::size_t stage = 0; stage < ranks_.size(); ++stage) {
      print_stage(stage);
    }
  }

 private:
  expect::Layout layout() const { return {spec_, model_}; }

  std::string bubble_text() {
    const auto due =
        expect::bubble_due(spec_, expect::logical_durations(spec_).stages.front()).value();
    std::string text;
    for (std::size_t list = 0; list < lists_.front().size(); ++list) {
      expect::Played played;
      for (const std::vector<ExecutedActions>& stage : lists_) {
        played.stages.push_back(stage.at(list).timed);
      }
      const expect::Bubble done = expect::bubble_of(spec_, played);
      text = fmt::format("bubble {} of {} units, beta_tot {:.4f}, beta_id {:.4f}",
                         pairing_.text(done.time(), due.time()),
                         pairing_.text(done.makespan, due.makespan), done.share_of_makespan(),
                         done.share_of_ideal());
    }
    return text;
  }

  void print_stage(std::size_t stage) {
    const int rank = ranks_[stage];
    const auto rows = dump_.readers().at(rank).ledgers().memory;
    const expect::RankMemory due = expect::memory_of(layout(), rank);
    const auto formula = expect::in_flight_due(spec_, static_cast<int>(stage));
    expect::InFlight done;
    for (const ExecutedActions& list : lists_[stage]) {
      const expect::InFlight each = expect::in_flight_of(spec_, list.list);
      done = {std::max(done.inputs, each.inputs), std::max(done.weights, each.weights)};
    }
    const auto bytes = [&](std::string_view tag) {
      return pairing_.text(peak_of(rows, tag), due.of(tag));
    };
    fmt::print(
        "    stage {}: in flight {} to B, {} to W; activation_B {} ({:.2f} micro-batches), "
        "activation_W {}, parameter {} ({} versions)\n",
        stage, pairing_.text(done.inputs, formula.inputs),
        pairing_.text(done.weights, formula.weights), bytes("activation_B"),
        static_cast<double>(peak_of(rows, "activation_B")) / of_one(rank), bytes("activation_W"),
        bytes("parameter"), expect::weight_versions(spec_, static_cast<int>(stage)));
  }

  /// What one micro-batch keeps on all chunks of the rank's stage up to B.
  double of_one(int rank) const {
    std::int64_t bytes = 0;
    for (const expect::SavedTensor& tensor : expect::saved_tensors(layout(), rank)) {
      bytes += tensor.tag == "activation_B" && !tensor.in_backward ? tensor.bytes() : 0;
    }
    return static_cast<double>(bytes);
  }

  DumpSet dump_;
  CaseSpec spec_;
  ModelSpec model_;
  Pairing& pairing_;
  std::vector<int> ranks_;                           // by stage
  std::vector<std::vector<ExecutedActions>> lists_;  // by stage
};

int print_tables(const fs::path& models, const fs::path& run) {
  std::vector<fs::path> dumps;
  for (const auto& entry : fs::directory_iterator(run)) {
    if (fs::is_directory(entry.path() / "dump")) {
      dumps.push_back(entry.path() / "dump");
    }
  }
  std::sort(dumps.begin(), dumps.end());
  Pairing pairing;
  int cases = 0;
  for (const fs::path& dump : dumps) {
    CaseTable table(models, dump, pairing);
    if (table.is_pipeline()) {
      table.print();
      ++cases;
    }
  }
  fmt::print("{} cases, {} figures that are not their formula's\n", cases, pairing.unequal());
  return cases > 0 && pairing.unequal() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace meshparity

int main(int count, char** words) {
  if (count != 3) {
    fmt::print(stderr, "usage: schedule_table MODELS RUN, both folders; RUN with --keep all\n");
    return 2;
  }
  try {
    return meshparity::print_tables(words[1], words[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "schedule_table: {}\n", error.what());
    return 2;
  }
}
