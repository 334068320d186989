// Which cases a selection means: suites crossed out into case ids, filtered, each legal or excluded
// with its reason.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "matrix/suite.hpp"

namespace meshparity {

/// What the user asked for: case ids, or a suite; `only` filters either by globs on the ids.
struct Selection {
  std::string suite;              // name or path; not read when there are ids
  std::vector<std::string> only;  // a case is kept that matches any; empty keeps all
  std::vector<std::string> ids;
};

/// Where the words of a selection are looked up.
struct CaseSource {
  std::filesystem::path suites;
  std::filesystem::path models;
  /// hash8 of the text that "text" means; asked only when a suite says "text".
  std::function<std::string()> text_hash;
};

struct PlannedCase {
  std::string id;
  CaseSpec spec;
  ModelSpec model;
  std::string model_file_hash;  // sha256 of the spec's file
  std::string excluded;         // why it cannot run; empty when it can
};

/// In stable order, each id once. Throws UsageError: a text that is no case id (with the place in
/// the suite), an unknown model, a selection that matches nothing.
std::vector<PlannedCase> enumerate(const Selection& selection, const CaseSource& source);

/// Shell globs: * any text, ? one character, [...] one of those.
bool matches_glob(std::string_view text, const std::string& glob);

}  // namespace meshparity
