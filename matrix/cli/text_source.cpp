#include "matrix/cli/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/raw_inputs.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeastBytes = 100'000;
const fs::path kLicences = "/usr/share/common-licenses";

// Links are other names of files that are there already.
std::vector<fs::path> regular_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.is_regular_file() && !entry.is_symlink()) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Written aside and renamed: another run may read it at this moment.
void write_once(const fs::path& file, const std::string& bytes) {
  if (fs::exists(file) && sha256_hex_of_file(file) == sha256_hex(bytes)) {
    return;
  }
  const fs::path aside = file.string() + ".new";
  std::error_code refused;
  fs::create_directories(file.parent_path(), refused);
  std::ofstream out(aside, std::ios::binary);
  out << bytes;
  if (!out.flush()) {
    throw UsageError(fmt::format("the cache folder {} cannot be written; give --cache DIR",
                                 file.parent_path().string()));
  }
  fs::rename(aside, file);
}

}  // namespace

TextSource joined_text(const fs::path& folder, const fs::path& cache) {
  std::ostringstream joined;
  for (const fs::path& file : regular_files(folder)) {
    joined << std::ifstream(file, std::ios::binary).rdbuf();
  }
  const std::string bytes = joined.str();
  if (bytes.size() < kLeastBytes) {
    throw UsageError(
        fmt::format("the default text, the files in {}, has {} bytes of the {} that "
                    "text data need; give --text FILE",
                    folder.string(), bytes.size(), kLeastBytes));
  }
  const std::string hash = hash8(bytes);
  const fs::path file = fs::absolute(cache) / "texts" / fmt::format("licences-{}.txt", hash);
  write_once(file, bytes);
  return {file, hash};
}

TextSource find_text(const fs::path& given, const fs::path& cache) {
  if (given.empty()) {
    return joined_text(kLicences, cache);
  }
  return {fs::absolute(given), load_text(given).hash8};
}

}  // namespace meshparity
