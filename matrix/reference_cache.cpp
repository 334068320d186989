#include "matrix/reference_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "fixtures/companions.hpp"
#include "fixtures/content_hash.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "matrix/bound.hpp"
#include "matrix/payload_noise.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest = "entry.txt";

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

Precision precision_of(const ReferenceKey& key) {
  return parse_case(key.case_id).precision;
}

/// Of the lane, and of rounded gradients where the case has them.
std::vector<fs::path> companions_of(const ReferenceKey& key, const fs::path& folder) {
  std::vector<fs::path> files = {ReferenceCache::companions_file(folder, precision_of(key))};
  if (parse_case(key.case_id).gradcomm_bf16) {
    files.push_back(payload_companions(files.front()));
  }
  return files;
}

// Throws UsageError or Error saying what is not whole.
void require_whole(const ReferenceKey& key, const fs::path& folder) {
  const DumpReader dump(folder / rank_file_name(0));
  if (dump.header().case_id != key.case_id) {
    throw Error(fmt::format("the dump is of {}", dump.header().case_id));
  }
  for (const fs::path& file : companions_of(key, folder)) {
    if (const CompanionReader companions(file);
        file.filename() != fmt::format("companions_{}.h5", companions.lane())) {
      throw Error(fmt::format("{} is of lane {}", file.string(), companions.lane()));
    }
  }
}

struct Entry {
  fs::path folder;
  fs::file_time_type used;
  std::uintmax_t bytes = 0;
};

std::vector<Entry> entries_in(const fs::path& root) {
  std::vector<Entry> entries;
  std::error_code none;
  for (const auto& candidate : fs::directory_iterator(root, none)) {
    if (!fs::exists(candidate.path() / kManifest)) {
      continue;
    }
    Entry entry{candidate.path(), fs::last_write_time(candidate.path() / kManifest), 0};
    for (const auto& file : fs::directory_iterator(candidate.path())) {
      entry.bytes += file.is_regular_file() ? file.file_size() : 0;
    }
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  return entries;
}

}  // namespace

ReferenceCache::ReferenceCache(fs::path root, const fs::path& program, std::string cpu_model)
    : root_(std::move(root)),
      program_hash_(sha256_hex_of_file(program)),
      cpu_model_(std::move(cpu_model)) {}

std::string ReferenceCache::name(const ReferenceKey& key) const {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n", key.case_id, level_name(key.level),
                                key.model_hash, program_hash_, cpu_model_))
      .substr(0, 32);
}

fs::path ReferenceCache::folder(const ReferenceKey& key) const {
  return root_ / name(key);
}

fs::path ReferenceCache::companions_file(const fs::path& folder, Precision precision) {
  return folder / fmt::format("companions_{}.h5", lane_of(precision).companions);
}

std::string ReferenceCache::manifest(const ReferenceKey& key, const fs::path& folder) const {
  std::string text = fmt::format("case {}\nlevel {}\nmodel {}\nprogram {}\ncpu {}\ndump {}\n",
                                 key.case_id, level_name(key.level), key.model_hash, program_hash_,
                                 cpu_model_, fs::file_size(folder / rank_file_name(0)));
  for (const fs::path& file : companions_of(key, folder)) {
    text += fmt::format("companions {}\n", fs::file_size(file));
  }
  return text;
}

bool ReferenceCache::holds(const ReferenceKey& key) const {
  const fs::path entry = folder(key);
  try {
    if (read_file(entry / kManifest) != manifest(key, entry)) {
      return false;
    }
    require_whole(key, entry);
    fs::last_write_time(entry / kManifest, fs::file_time_type::clock::now());  // used, for trim
    return true;
  } catch (const Error&) {
    return false;
  } catch (const fs::filesystem_error&) {
    return false;
  }
}

fs::path ReferenceCache::begin(const ReferenceKey& key) const {
  const fs::path making = root_ / fmt::format("making-{}-{}", name(key), getpid());
  try {
    fs::remove_all(making);
    fs::create_directories(making);
  } catch (const fs::filesystem_error& error) {
    throw UsageError(fmt::format("the cache folder {} cannot be written: {}; give --cache DIR",
                                 root_.string(), error.code().message()));
  }
  return making;
}

void ReferenceCache::put_in_place(const ReferenceKey& key, const fs::path& making) const {
  // Two runs may make the same reference side by side. The first one's may be open in its judge by
  // now, so it stays, and ours goes; only what is torn or foreign gives way.
  if (!holds(key)) {
    fs::remove_all(folder(key));
    std::error_code taken;
    fs::rename(making, folder(key), taken);
    if (taken && !holds(key)) {
      throw fs::filesystem_error("taking its place", making, folder(key), taken);
    }
  }
  fs::remove_all(making);
}

void ReferenceCache::adopt(const ReferenceKey& key) const {
  const fs::path making = root_ / fmt::format("making-{}-{}", name(key), getpid());
  try {
    require_whole(key, making);
    const std::string text = manifest(key, making);
    std::ofstream out(making / kManifest, std::ios::binary);
    out << text;
    if (!out.flush()) {
      throw Error(fmt::format("writing {}", (making / kManifest).string()));
    }
    put_in_place(key, making);
  } catch (const std::exception& error) {
    throw Error(fmt::format("keeping the reference of {}: {}", key.case_id, error.what()));
  }
}

void ReferenceCache::trim(std::uintmax_t limit, const std::set<fs::path>& in_use) const {
  const std::vector<Entry> entries = entries_in(root_);
  std::uintmax_t total = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes;
  }
  for (const Entry& entry : entries) {
    if (total > limit && !in_use.contains(entry.folder)) {
      fs::remove_all(entry.folder);
      total -= entry.bytes;
    }
  }
}

}  // namespace meshparity
