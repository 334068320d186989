#include "matrix/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fixtures/error.hpp"
#include "matrix/suite_tables.hpp"

namespace meshparity {
namespace {

toml::table parse_toml(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}:{}: {}", origin, error.source().begin.line, error.description()));
  }
}

std::string names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".toml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Suite parse_suite(std::string_view text, const std::string& origin) {
  const toml::table root = parse_toml(text, origin);
  for (const auto& [key, node] : root) {
    if (key.str() != "cases" && key.str() != "relations" && key.str() != "covers") {
      throw UsageError(fmt::format(
          "{}: unknown key \"{}\"; a suite holds [[cases]], [[relations]] and [[covers]] only",
          place_in(origin, node), key.str()));
    }
  }
  Suite suite{origin, read_case_blocks(origin, root), read_relation_blocks(origin, root),
              read_cover_blocks(origin, root)};
  if (suite.blocks.empty() && suite.relations.empty() && suite.covers.empty()) {
    throw UsageError(fmt::format(
        "{}:1: a suite holds at least one [[cases]], [[relations]] or [[covers]] table", origin));
  }
  return suite;
}

Suite load_suite(const std::filesystem::path& folder, const std::string& name) {
  const bool by_path = name.ends_with(".toml");
  const std::filesystem::path file =
      by_path ? std::filesystem::path(name) : folder / (name + ".toml");
  if (!std::filesystem::is_regular_file(file)) {
    throw UsageError(by_path ? fmt::format("suite {}: there is no such file", name)
                             : fmt::format("suite \"{}\" does not exist; suites are {}, or a path "
                                           "that ends in .toml",
                                           name, names_in(folder)));
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    throw UsageError(fmt::format("suite {}: cannot be read", file.string()));
  }
  return parse_suite(text.str(), file.string());
}

}  // namespace meshparity
