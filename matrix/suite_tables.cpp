#include "matrix/suite_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

std::vector<std::string> read_list(const std::string& origin, std::string_view key,
                                   const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->empty()) {
    throw UsageError(fmt::format("{}: {} must be a list of texts that is not empty",
                                 place_in(origin, node), key));
  }
  std::vector<std::string> list;
  for (const toml::node& item : *array) {
    const auto text = item.value_exact<std::string>();
    if (!text) {
      throw UsageError(
          fmt::format("{}: {} holds something that is no text", place_in(origin, item), key));
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
      throw UsageError(fmt::format("{}: unknown key \"{}\"; known are {}", place_in(origin, node),
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

/// The tables [[name]] of the file; none when it has none.
std::vector<const toml::table*> tables_of(const std::string& origin, std::string_view name,
                                          const toml::table& root) {
  const toml::node* node = root.get(name);
  if (node == nullptr) {
    return {};
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || !array->is_homogeneous<toml::table>()) {
    throw UsageError(
        fmt::format("{}: {} must be [[{}]] tables", place_in(origin, *node), name, name));
  }
  std::vector<const toml::table*> tables;
  for (const toml::node& table : *array) {
    tables.push_back(table.as_table());
  }
  return tables;
}

std::vector<CaseBlock> read_blocks(const std::string& origin, const TableKind& kind,
                                   const toml::table& root) {
  std::vector<CaseBlock> blocks;
  for (const toml::table* table : tables_of(origin, kind.name, root)) {
    blocks.push_back(read_block(origin, kind, *table));
  }
  return blocks;
}

void refuse_other_keys(const std::string& origin, const toml::table& table,
                       const std::vector<std::string_view>& known) {
  for (const auto& [key, node] : table) {
    if (std::count(known.begin(), known.end(), key.str()) == 0) {
      throw UsageError(fmt::format("{}: unknown key \"{}\"; known are {}", place_in(origin, node),
                                   key.str(), fmt::join(known, ", ")));
    }
  }
}

std::int64_t read_number(const std::string& origin, const toml::table& table, std::string_view key,
                         std::int64_t most) {
  const auto number = table[key].value_exact<std::int64_t>();
  if (!number || *number < 1 || *number > most) {
    throw UsageError(fmt::format("{}: \"{}\" must be a number from 1 to {}",
                                 place_in(origin, table), key, most));
  }
  return *number;
}

std::vector<CoverFactor> read_factors(const std::string& origin, const toml::table& cover) {
  const toml::table* factors = cover["factors"].as_table();
  if (factors == nullptr || !factors->contains("model")) {
    throw UsageError(fmt::format(
        "{}: this [[covers]] has no table [covers.factors] with the models as \"model\"",
        place_in(origin, cover)));
  }
  std::vector<CoverFactor> read;
  for (const auto& [key, node] : *factors) {
    read.push_back({std::string(key.str()), read_list(origin, key.str(), node)});
  }
  return read;
}

CoverRestriction read_restriction(const std::string& origin, const toml::table& table) {
  refuse_other_keys(origin, table, {"value", "to"});
  const auto value = table["value"].value_exact<std::string>();
  const toml::node* to = table.get("to");
  if (!value || to == nullptr) {
    throw UsageError(fmt::format("{}: a restriction has a \"value\" and a list \"to\"",
                                 place_in(origin, table)));
  }
  return {*value, read_list(origin, "to", *to)};
}

CoverBlock read_cover(const std::string& origin, const toml::table& table) {
  constexpr std::int64_t kStrongest = 3;
  constexpr std::int64_t kLargestWorldOfSuites = 64;
  constexpr std::int64_t kLargestSample = 10'000;
  refuse_other_keys(origin, table,
                    {"strength", "world_at_most", "sample", "seed", "factors", "restrict"});
  CoverBlock cover;
  cover.line = static_cast<int>(table.source().begin.line);
  cover.strength = static_cast<std::size_t>(read_number(origin, table, "strength", kStrongest));
  cover.world_at_most =
      static_cast<int>(read_number(origin, table, "world_at_most", kLargestWorldOfSuites));
  if (table.contains("sample")) {
    cover.sample = static_cast<std::size_t>(read_number(origin, table, "sample", kLargestSample));
    cover.seed = static_cast<std::uint64_t>(
        read_number(origin, table, "seed", std::numeric_limits<std::int64_t>::max()));
  }
  cover.factors = read_factors(origin, table);
  for (const toml::table* each : tables_of(origin, "restrict", table)) {
    cover.restrictions.push_back(read_restriction(origin, *each));
  }
  return cover;
}

}  // namespace

std::string place_in(const std::string& origin, const toml::node& node) {
  return fmt::format("{}:{}", origin, node.source().begin.line);
}

std::vector<CaseBlock> read_case_blocks(const std::string& origin, const toml::table& root) {
  return read_blocks(origin, cases_table(), root);
}

std::vector<CaseBlock> read_relation_blocks(const std::string& origin, const toml::table& root) {
  return read_blocks(origin, relations_table(), root);
}

std::vector<CoverBlock> read_cover_blocks(const std::string& origin, const toml::table& root) {
  std::vector<CoverBlock> covers;
  for (const toml::table* table : tables_of(origin, "covers", root)) {
    covers.push_back(read_cover(origin, *table));
  }
  return covers;
}

}  // namespace meshparity
