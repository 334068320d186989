// For tests: the kernels that there are, read from their sources.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace meshparity {

/// In the order of the text. One whose fields the pattern does not see through is a failure.
inline std::vector<std::string> kernel_names_in(const std::string& text) {
  const std::regex kernel("struct (\\w+) \\{[^{}]*\\n\\n  int groups\\(\\)");
  const std::regex any("\\n  int groups\\(\\)");
  std::vector<std::string> names;
  const std::sregex_iterator end;
  for (std::sregex_iterator at(text.begin(), text.end(), kernel); at != end; ++at) {
    names.push_back((*at)[1].str());
  }
  EXPECT_EQ(std::ssize(names),
            std::distance(std::sregex_iterator(text.begin(), text.end(), any), end))
      << "kernels of\n"
      << text;
  return names;
}

/// Of all .cuh files of the folder of kernels.
inline std::vector<std::string> kernel_names_of(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cuh") {
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::vector<std::string> found = kernel_names_in(text.str());
      names.insert(names.end(), found.begin(), found.end());
    }
  }
  return names;
}

}  // namespace meshparity
