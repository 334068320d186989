// The text that "text" data means: the user's own, or the licences that every Debian machine has.
#pragma once
#include <filesystem>
#include <string>

namespace meshparity {

struct TextSource {
  std::filesystem::path file;
  std::string hash8;
};

/// `given` when it is not empty; else the regular files of /usr/share/common-licenses joined in the
/// order of their names, written once to <cache>/texts/licences-<hash8>.txt. Throws UsageError when
/// they are missing or too short, asking for --text.
TextSource find_text(const std::filesystem::path& given, const std::filesystem::path& cache);

/// The same from another folder of texts.
TextSource joined_text(const std::filesystem::path& folder, const std::filesystem::path& cache);

}  // namespace meshparity
