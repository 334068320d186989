// Suites: readable cross products of models, meshes, features, data, precisions and machines, kept
// in TOML files.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace meshparity {

/// One [[cases]] table: every combination is a case. One [[relations]] table: every combination is
/// the first case of each relation that it names (relations.hpp).
struct CaseBlock {
  int line = 0;  // where it stands, for errors
  std::vector<std::string> models;
  std::vector<std::string> meshes;
  std::vector<std::string> features;  // "plain", "zero1-mb2": tokens without the data
  std::vector<std::string> data;      // "zipf", "text"
  std::vector<std::string> precisions;
  std::vector<std::string> machines;
  std::vector<std::string> relations;  // of a [[relations]] table only
};

struct CoverFactor {
  std::string name;                 // "model", "precision", "machine", or what its values mean
  std::vector<std::string> values;  // tokens of contracts.md §1 ("tp4", "sgd"); "plain": none
};

/// Where `value` stands, the factors whose values `to` lists keep to these.
struct CoverRestriction {
  std::string value;
  std::vector<std::string> to;
};

/// One [[covers]] table: cases in which every legal combination of `strength` values stands
/// together; strength 1 has each value alone.
struct CoverBlock {
  int line = 0;
  std::size_t strength = 0;
  int world_at_most = 0;
  std::size_t sample = 0;  // further legal cases, drawn by the seed
  std::uint64_t seed = 1;
  std::vector<CoverFactor> factors;
  std::vector<CoverRestriction> restrictions;
};

struct Suite {
  std::string origin;  // the file, for errors
  std::vector<CaseBlock> blocks;
  std::vector<CaseBlock> relations;
  std::vector<CoverBlock> covers;
};

/// Throws UsageError "ORIGIN:LINE: what is wrong": TOML syntax, an unknown or missing key, a value
/// that is no list of texts, an empty list, unknown data, neither [[cases]] nor [[relations]].
Suite parse_suite(std::string_view toml, const std::string& origin);
/// A suite by name from the folder, or by path when the name ends in ".toml". Throws UsageError
/// listing the names that exist.
Suite load_suite(const std::filesystem::path& folder, const std::string& name);

}  // namespace meshparity
