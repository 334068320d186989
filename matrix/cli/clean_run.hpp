// For tests: real programs end to end, a clean run of a case, and copies of its dump that are
// altered by hand, as a wrong candidate would have left it.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/element_type.hpp"
#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {

struct Ran {
  int exit = -1;
  std::string out;
};

inline Ran run_program(const std::string& words) {
  std::FILE* pipe = ::popen(fmt::format("{} {} 2>&1", MESHPARITY_PROGRAM, words).c_str(), "r");
  Ran ran;
  std::array<char, 4096> bytes;
  for (std::size_t got; (got = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    ran.out.append(bytes.data(), got);
  }
  ran.exit = WEXITSTATUS(::pclose(pipe));
  return ran;
}

using Values = std::vector<double>;
/// Of a whole number record the values are those numbers.
using Edit = std::function<void(const Piece& piece, Values& values)>;

inline bool is(const Piece& piece, int step, Phase phase, const std::string& record) {
  return piece.step == step && piece.phase == phase && piece.record == record;
}

inline Values record_of(const DumpReader& dump, int step, Phase phase, const std::string& record) {
  for (const Piece& piece : dump.pieces()) {
    if (is(piece, step, phase, record)) {
      return dump.read(piece);
    }
  }
  throw Error("no such record: " + record);
}

/// A clean run of a case with its reference, and altered copies of its dump.
class CleanRun {
 public:
  explicit CleanRun(std::string id) : id_(std::move(id)) {
    const Ran ran =
        run_program(fmt::format("run {} --keep all --cache {} --out {}", id_,
                                (scratch_ / "cache").string(), (scratch_ / "out").string()));
    EXPECT_EQ(ran.exit, 0) << ran.out;
  }

  std::filesystem::path dump() const { return scratch_ / "out" / id_ / "dump"; }
  /// Of rank 0.
  DumpReader reader() const { return DumpReader(dump() / rank_file_name(0)); }
  nlohmann::json report() const {
    std::ifstream in(scratch_ / "out" / "results.jsonl");
    return nlohmann::json::parse(in);
  }
  /// Steps that have a margin, by phase, "law " before those of laws.
  std::map<std::string, std::set<int>> judged_steps() const {
    std::map<std::string, std::set<int>> steps;
    const nlohmann::json whole = report();
    for (const nlohmann::json& check : whole.at("checks")) {
      for (const nlohmann::json& margin : check.at("margins")) {
        const std::string kind = margin.at("statistic") == "L" ? "law " : "";
        steps[kind + margin.at("phase").get<std::string>()].insert(margin.at("step").get<int>());
        EXPECT_LE(margin.at("margin").get<double>(), 1);
      }
      EXPECT_EQ(check.at("notes").dump().find("not compared"), std::string::npos);
    }
    return steps;
  }

  Ran compare(const std::filesystem::path& candidate) const {
    const auto entry = *std::filesystem::directory_iterator(scratch_ / "cache" / "references");
    return run_program(fmt::format("compare {} {}", entry.path().string(), candidate.string()));
  }

  Ran compare_altered(const std::string& name, const Edit& edit) const {
    std::filesystem::create_directory(scratch_ / name);
    for (const auto& file : std::filesystem::directory_iterator(dump())) {
      const std::string rank = file.path().filename().string();
      if (rank.starts_with("rank_")) {
        copy_altered(file.path(), scratch_ / name / rank, edit);
      }
    }
    return compare(scratch_ / name);
  }

 private:
  static void copy_altered(const std::filesystem::path& from_file,
                           const std::filesystem::path& to_file, const Edit& edit) {
    const DumpReader from(from_file);
    DumpWriter to(to_file, from.header());
    for (const Piece& piece : from.pieces()) {
      if (is_integer(piece.type)) {
        const std::vector<std::int64_t> numbers = from.read_integers(piece);
        Values values(numbers.begin(), numbers.end());
        edit(piece, values);
        to.write_integers(piece, std::vector<std::int64_t>(values.begin(), values.end()));
        continue;
      }
      Values values = from.read(piece);
      edit(piece, values);
      to.write(piece, values);
    }
    to.write_ledgers(from.ledgers());
    to.complete();
  }

  ScratchFolder scratch_;
  std::string id_;
};

}  // namespace meshparity
