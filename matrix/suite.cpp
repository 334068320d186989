#include "matrix/suite.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

struct ListKey {
  std::string_view name;
  std::vector<std::string> CaseBlock::*member;
};
const std::vector<ListKey> kCaseKeys = {
    {"models", &CaseBlock::models},         {"meshes", &CaseBlock::meshes},
    {"features", &CaseBlock::features},     {"data", &CaseBlock::data},
    {"precisions", &CaseBlock::precisions}, {"machines", &CaseBlock::machines}};

// A kind of table of a suite, and the keys that it needs, all of them.
struct TableKind {
  std::string_view name;
  std::vector<ListKey> keys;
};

TableKind cases_table() {
  return {"cases", kCaseKeys};
}

TableKind relations_table() {
  TableKind kind{"relations", kCaseKeys};
  kind.keys.push_back({"relations", &CaseBlock::relations});
  return kind;
}

std::string names_of(const TableKind& kind) {
  std::string names;
  for (const ListKey& key : kind.keys) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", key.name);
  }
  return names;
}

std::string place(const std::string& origin, const toml::node& node) {
  return fmt::format("{}:{}", origin, node.source().begin.line);
}

std::vector<std::string> read_list(const std::string& origin, std::string_view key,
                                   const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty()) {
    throw UsageError(
        fmt::format("{}: {} must be a list of texts that is not empty", place(origin, node), key));
  }
  std::vector<std::string> list;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text) {
      throw UsageError(
          fmt::format("{}: {} holds something that is no text", place(origin, item), key));
    }
    list.push_back(*text);
  }
  return list;
}

void check_data(const std::string& origin, const CaseBlock& block) {
  for (const std::string& data : block.data) {
    if (data != "zipf" && data != "text") {
      throw UsageError(fmt::format("{}:{}: data \"{}\" is neither \"zipf\" nor \"text\"", origin,
                                   block.line, data));
    }
  }
}

CaseBlock read_block(const std::string& origin, const TableKind& kind, const toml::table& table) {
  CaseBlock block;
  block.line = static_cast<int>(table.source().begin.line);
  for (const auto& [key, node] : table) {
    const auto known = std::find_if(kind.keys.begin(), kind.keys.end(),
                                    [&](const ListKey& each) { return each.name == key.str(); });
    if (known == kind.keys.end()) {
      throw UsageError(fmt::format("{}: unknown key \"{}\"; known are {}", place(origin, node),
                                   key.str(), names_of(kind)));
    }
    block.*(known->member) = read_list(origin, key.str(), node);
  }
  for (const ListKey& key : kind.keys) {
    if ((block.*(key.member)).empty()) {
      throw UsageError(
          fmt::format("{}:{}: this [[{}]] has no \"{}\"", origin, block.line, kind.name, key.name));
    }
  }
  check_data(origin, block);
  return block;
}

std::vector<CaseBlock> read_blocks(const std::string& origin, const TableKind& kind,
                                   const toml::table& root) {
  const toml::node* node = root.get(kind.name);
  if (node == nullptr) {
    return {};
  }
  const toml::array* tables = node->as_array();
  if (tables == nullptr || !tables->is_homogeneous<toml::table>()) {
    throw UsageError(
        fmt::format("{}: {} must be [[{}]] tables", place(origin, *node), kind.name, kind.name));
  }
  std::vector<CaseBlock> blocks;
  for (const toml::node& table : *tables) {
    blocks.push_back(read_block(origin, kind, *table.as_table()));
  }
  return blocks;
}

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
    if (key.str() != "cases" && key.str() != "relations") {
      throw UsageError(
          fmt::format("{}: unknown key \"{}\"; a suite holds [[cases]] and [[relations]] only",
                      place(origin, node), key.str()));
    }
  }
  Suite suite{origin, read_blocks(origin, cases_table(), root),
              read_blocks(origin, relations_table(), root)};
  if (suite.blocks.empty() && suite.relations.empty()) {
    throw UsageError(
        fmt::format("{}:1: a suite holds at least one [[cases]] or [[relations]] table", origin));
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
