// All rank files of one dump, and its pieces by record.
#pragma once
#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"

namespace meshparity {

struct RecordKey {
  int step = 0;
  Phase phase = Phase::forward;
  std::string record;
  auto operator<=>(const RecordKey&) const = default;
};
/// "grad layer0.mlp.up.weight step 1"
std::string record_text(const RecordKey& key);

struct HeldPiece {
  int rank = 0;
  const Piece* piece = nullptr;
};

/// Opens every rank_NNNN.h5 of a folder, or one file. Pieces point into the set, which may be moved
/// but not copied.
class DumpSet {
 public:
  /// Throws UsageError when `dump` is neither a folder nor a dump's file. A folder without rank
  /// files makes an empty set.
  explicit DumpSet(const std::filesystem::path& dump);

  /// A file that is there and cannot be read.
  struct Unreadable {
    int rank = 0;
    std::string what;
  };
  const std::vector<Unreadable>& unreadable() const { return unreadable_; }
  /// By rank number of the file's name (a single file's: of its header).
  const std::map<int, DumpReader>& readers() const { return readers_; }
  /// The header of the first file; throws UsageError when a file is unreadable or there is none.
  const DumpHeader& header() const;
  const std::filesystem::path& file_of(int rank) const { return files_.at(rank); }
  /// Every record with its pieces, by rank, each rank's in the order in which it emitted them.
  const std::map<RecordKey, std::vector<HeldPiece>>& records() const { return records_; }
  /// Empty when no rank holds it.
  const std::vector<HeldPiece>& pieces(const RecordKey& key) const;

 private:
  void open(int rank, const std::filesystem::path& file);

  std::filesystem::path dump_;
  std::map<int, DumpReader> readers_;
  std::map<int, std::filesystem::path> files_;
  std::vector<Unreadable> unreadable_;
  std::map<RecordKey, std::vector<HeldPiece>> records_;
  std::vector<HeldPiece> none_;
};

/// Throws the first of the set's unreadable files as a UsageError.
void require_readable(const DumpSet& dump);

}  // namespace meshparity
