#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "fixtures/error.hpp"
#include "matrix/cli/terminal.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/cli/whole_run.hpp"
#include "reports/ci_text.hpp"
#include "reports/finding_text.hpp"
#include "reports/markdown.hpp"
#include "reports/merge.hpp"
#include "reports/missing.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

StoredRun merged(const ReportOptions& options) {
  if (options.out.empty()) {
    throw UsageError("several folders are merged into a new one: give --out NEW");
  }
  std::vector<StoredRun> runs;
  for (const std::filesystem::path& folder : options.folders) {
    runs.push_back(read_run(folder));
  }
  MergedRun whole = merge_runs(runs);
  const RunDir dir = RunDir::create(options.out);
  write_plan(dir.plan(), whole.plan);
  replace_results(dir.results(), whole.reports);
  return {dir, std::move(whole.plan), std::move(whole.reports)};
}

StoredRun chosen_run(const ReportOptions& options) {
  if (options.folders.size() > 1) {
    return merged(options);
  }
  if (!options.out.empty()) {
    throw UsageError("--out takes several shards merged; one folder is rendered where it lies");
  }
  return read_run(options.folders.front());
}

void write_summary(const std::filesystem::path& file, const StoredRun& run) {
  std::ofstream out(file, std::ios::binary | std::ios::app);  // a CI service's file may have text
  out << cut_page(render_markdown(run.plan, run.reports));
  if (!out.flush()) {
    throw UsageError(fmt::format("the summary {} cannot be written", file.string()));
  }
}

void print_annotations(const StoredRun& run, std::size_t lost) {
  for (const std::string& line : annotations(run.reports)) {
    fmt::print("{}\n", line);
  }
  if (lost > 0) {
    fmt::print("::error title=meshparity::{} cases have no result\n", lost);
  }
}

}  // namespace

int report_runs(const ReportOptions& options) {
  const StoredRun run = chosen_run(options);
  render(run.dir, run.plan);
  const std::size_t lost = without_result(run.plan, run.reports).size();
  if (!options.summary.empty()) {
    write_summary(options.summary, run);
  }
  if (options.annotations) {
    print_annotations(run, lost);
  }
  fmt::print("{}{}; report: {}\n", describe_tally(tally(run.reports)),
             lost > 0 ? fmt::format(", {} without result", lost) : std::string(),
             run.dir.report().string());
  return exit_code(run.reports, lost > 0);
}

}  // namespace meshparity
