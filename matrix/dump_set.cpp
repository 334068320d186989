#include "matrix/dump_set.hpp"

#include <fmt/format.h>

#include <charconv>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

/// The rank of "rank_0012.h5"; nothing for another name.
std::optional<int> rank_in(const std::string& name) {
  const std::string prefix = "rank_";
  const std::string suffix = ".h5";
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  int rank = 0;
  const char* first = name.data() + prefix.size();
  const char* last = name.data() + name.size() - suffix.size();
  const auto [end, code] = std::from_chars(first, last, rank);
  return code == std::errc() && end == last ? std::optional(rank) : std::nullopt;
}

std::map<int, std::filesystem::path> rank_files(const std::filesystem::path& folder) {
  std::map<int, std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (const auto rank = rank_in(entry.path().filename().string())) {
      files.emplace(*rank, entry.path());
    }
  }
  return files;
}

}  // namespace

std::string record_text(const RecordKey& key) {
  return fmt::format("{} {} step {}", phase_name(key.phase), key.record, key.step);
}

DumpSet::DumpSet(const std::filesystem::path& dump) : dump_(dump) {
  if (std::filesystem::is_directory(dump)) {
    for (const auto& [rank, file] : rank_files(dump)) {
      open(rank, file);
    }
  } else {
    DumpReader reader(dump);
    const int rank = reader.header().rank;
    readers_.emplace(rank, std::move(reader));
    files_.emplace(rank, dump);
  }
  for (const auto& [rank, reader] : readers_) {
    for (const Piece& piece : reader.pieces()) {
      records_[{piece.step, piece.phase, piece.record}].push_back({rank, &piece});
    }
  }
}

void DumpSet::open(int rank, const std::filesystem::path& file) {
  try {
    readers_.emplace(rank, DumpReader(file));
    files_.emplace(rank, file);
  } catch (const UsageError& error) {
    unreadable_.push_back({rank, error.what()});
  }
}

const DumpHeader& DumpSet::header() const {
  require_readable(*this);
  if (readers_.empty()) {
    throw UsageError(fmt::format("{}: no dump: the folder has no rank_0000.h5", dump_.string()));
  }
  return readers_.begin()->second.header();
}

const std::vector<HeldPiece>& DumpSet::pieces(const RecordKey& key) const {
  const auto found = records_.find(key);
  return found == records_.end() ? none_ : found->second;
}

void require_readable(const DumpSet& dump) {
  if (!dump.unreadable().empty()) {
    throw UsageError(dump.unreadable().front().what);
  }
}

}  // namespace meshparity
