// The tables of a suite's TOML file, one reader a kind; errors name file and line.
#pragma once
#include <toml++/toml.h>
#include <string>
#include <vector>

#include "matrix/suite.hpp"

namespace meshparity {

/// "FILE:LINE"
std::string place_in(const std::string& origin, const toml::node& node);

/// All [[name]] tables of that kind; none when the file has none. Throws UsageError.
std::vector<CaseBlock> read_case_blocks(const std::string& origin, const toml::table& root);
std::vector<CaseBlock> read_relation_blocks(const std::string& origin, const toml::table& root);
std::vector<CoverBlock> read_cover_blocks(const std::string& origin, const toml::table& root);

}  // namespace meshparity
