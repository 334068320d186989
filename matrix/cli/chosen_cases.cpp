#include "matrix/cli/chosen_cases.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "fault_injection/fault_registry.hpp"
#include "fixtures/error.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/text_source.hpp"
#include "matrix/mpi_start.hpp"

namespace meshparity {
namespace {

// Found at most once, and only when some case reads a text.
class LazyText {
 public:
  explicit LazyText(const CaseOptions& options) : options_(options) {}
  const TextSource& get() {
    if (!found_) {
      found_ = find_text(options_.text, options_.cache);
    }
    return *found_;
  }

 private:
  const CaseOptions& options_;
  std::optional<TextSource> found_;
};

void require_known_faults(const PlannedCase& planned) {
  for (const Event& event : planned.spec.events) {
    if (event.kind == Event::Kind::fault) {
      find_fault(event.name);
    }
  }
}

void require_text(const PlannedCase& planned, const CaseOptions& options, const TextSource& text) {
  if (planned.spec.text_hash != text.hash8) {
    throw UsageError(
        fmt::format("case {} reads the text with hash {}, but {} has hash {}; give --text FILE",
                    planned.id, planned.spec.text_hash,
                    options.text.empty() ? "the default text" : options.text.string(), text.hash8));
  }
}

class Chooser {
 public:
  explicit Chooser(const CaseOptions& options) : options_(options), text_(options) {}

  ChosenCases choose() {
    const CaseSource source{source_folder() / "matrix" / "suites", options_.models,
                            [this] { return text_.get().hash8; }};
    Enumeration found = enumerate(options_.selection, source);
    chosen_.asked_by_id = !options_.selection.ids.empty();
    chosen_.covers = std::move(found.covers);
    for (PlannedCase& planned : found.cases) {
      add(std::move(planned));
    }
    for (PlannedRelation& planned : found.relations) {
      add(std::move(planned));
    }
    return std::move(chosen_);
  }

 private:
  // What this machine cannot start is excluded like what no machine can run.
  const std::string& why_not_here(const PlannedCase& planned) {
    const Machine machine = planned.spec.machine;
    const auto known = why_not_.find(machine);
    return known != why_not_.end()
               ? known->second
               : why_not_[machine] = why_not_started(machine, programs_beside().worker);
  }

  void add(PlannedCase planned) {
    require_known_faults(planned);
    if (planned.excluded.empty()) {
      planned.excluded = why_not_here(planned);
    }
    if (!planned.excluded.empty()) {
      chosen_.excluded.push_back({planned.id, planned.excluded});
      return;
    }
    require_data(planned);
    chosen_.runnable.push_back(std::move(planned));
  }

  void add(PlannedRelation planned) {
    require_known_faults(planned.first);
    for (const PlannedCase& side : {planned.first, planned.partner}) {
      planned.excluded = planned.excluded.empty() ? why_not_here(side) : planned.excluded;
    }
    if (!planned.excluded.empty()) {
      chosen_.excluded.push_back({planned.first.id, planned.excluded});
      return;
    }
    require_data(planned.first);
    chosen_.relations.push_back(std::move(planned));
  }

  void require_data(const PlannedCase& planned) {
    if (!planned.spec.text_hash.empty()) {
      require_text(planned, options_, text_.get());
      chosen_.text = text_.get().file;
    }
  }

  const CaseOptions& options_;
  LazyText text_;
  std::map<Machine, std::string> why_not_;  // of the machines asked for so far
  ChosenCases chosen_;
};

}  // namespace

ChosenCases choose_cases(const CaseOptions& options) {
  return Chooser(options).choose();
}

}  // namespace meshparity
