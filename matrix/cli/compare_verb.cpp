#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>

#include "fixtures/error.hpp"
#include "matrix/cli/text_source.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/rebase_once.hpp"
#include "reports/finding_text.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kFindingsShown = 5;

void print_margins(const CheckResult& check) {
  for (const Margin& margin : check.margins) {
    fmt::print("  margin {:.4g} {} {} sees {:.3g}\n", margin.margin, margin.statistic,
               record_text({margin.step, margin.phase, margin.record}), margin.sees);
  }
}

void print_check(const CheckResult& check) {
  fmt::print("{:<12}  {:>12} compared  {}\n",
             check.evidence ? verdict_name(check.verdict) : "no evidence", check.compared,
             check.check);
  for (const std::string& note : check.notes) {
    fmt::print("  {}\n", note);
  }
  const std::size_t shown = std::min(kFindingsShown, check.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    for (const std::string& line : describe_finding(check.findings[i])) {
      fmt::print("  {}\n", line);
    }
  }
  if (check.findings.size() > shown) {
    fmt::print("  and {} findings more\n", check.findings.size() - shown);
  }
}

/// A folder in the temporary directory that goes with its object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "meshparity_compare_XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(fmt::format("making a temporary folder like {}", pattern));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // what stays is a temporary file
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::filesystem::path rebased_dump(const RebaseQuestion& question, const CompareVerb& options,
                                   const std::filesystem::path& folder) {
  RebaseSetup setup;
  setup.program = options.program;
  setup.models = std::filesystem::absolute(options.lookup.models);
  setup.folder = folder;
  setup.level = question.level;
  if (!question.spec.text_hash.empty()) {
    setup.text = find_text(options.lookup.text, options.lookup.cache).file;
  }
  return rebase_once(question.spec, question.reference, question.candidate, setup);
}

}  // namespace

int compare(const CompareVerb& options) {
  const TemporaryFolder folder;
  CompareOptions how = options.how;
  how.models = options.lookup.models;
  how.rebase = [&](const RebaseQuestion& question) {
    return rebased_dump(question, options, folder.path());
  };
  const Comparison comparison = compare_dumps(options.reference, options.candidate, how);
  for (const std::string& difference : comparison.differences) {
    fmt::print("differs: {}\n", difference);
  }
  for (const CheckResult& check : comparison.checks) {
    print_check(check);
    if (options.margins) {
      print_margins(check);
    }
  }
  fmt::print("{}\n", verdict_name(comparison.verdict));
  return exit_code(comparison.verdict);
}

}  // namespace meshparity
