// From a case's spec to a case that can be run, or the reason why it cannot.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"

namespace meshparity {

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

/// Reads each model's file once.
class CasePlanner {
 public:
  explicit CasePlanner(const CaseSource& source) : source_(source) {}

  /// Throws UsageError: an unknown model, a file of another hash than the case names, fields that
  /// an id cannot say.
  PlannedCase plan(const CaseSpec& spec);
  /// Empty when the case can run; throws as plan() does.
  std::string why_excluded(const CaseSpec& spec);

 private:
  struct LoadedModel {
    ModelSpec spec;
    std::string file_hash;
  };
  const LoadedModel& model_of(const CaseSpec& spec);

  const CaseSource& source_;
  std::map<std::string, LoadedModel> models_;
};

}  // namespace meshparity
