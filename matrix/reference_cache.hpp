// The cache of references and their companions: made once for a key, found again by content. An
// entry is whole or absent, and an entry that is torn or of another key is made again.
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "fixtures/case_spec.hpp"
#include "fixtures/record_table.hpp"

namespace meshparity {

/// What a reference run depends on besides the program and the CPU.
struct ReferenceKey {
  std::string case_id;  // reference_run() of the cases that it serves
  std::string model_hash;
  Level level = Level::standard;
  auto operator<=>(const ReferenceKey&) const = default;
};

class ReferenceCache {
 public:
  /// `program` is hashed once: another build of the reference finds none of this one's entries.
  ReferenceCache(std::filesystem::path root, const std::filesystem::path& program,
                 std::string cpu_model);

  std::filesystem::path folder(const ReferenceKey& key) const;
  /// Those of the lane that serves the precision.
  static std::filesystem::path companions_file(const std::filesystem::path& folder,
                                               Precision precision);

  /// True when the entry is whole: its manifest names this key, and its files are complete and as
  /// long as when they were made.
  bool holds(const ReferenceKey& key) const;
  /// An empty folder to make the entry in; whatever an earlier attempt left there is removed.
  std::filesystem::path begin(const ReferenceKey& key) const;
  /// Checks what was made in begin()'s folder and puts it in the entry's place. Throws Error when
  /// it is not whole. A whole entry that another run put there meanwhile stays, ours goes.
  void adopt(const ReferenceKey& key) const;
  /// Removes the entries used longest ago until all take at most `limit` bytes; never one of
  /// `in_use` (folders).
  void trim(std::uintmax_t limit, const std::set<std::filesystem::path>& in_use) const;

 private:
  std::string name(const ReferenceKey& key) const;
  std::string manifest(const ReferenceKey& key, const std::filesystem::path& folder) const;
  void put_in_place(const ReferenceKey& key, const std::filesystem::path& making) const;

  std::filesystem::path root_;
  std::string program_hash_;
  std::string cpu_model_;
};

}  // namespace meshparity
