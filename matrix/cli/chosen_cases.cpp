#include "matrix/cli/chosen_cases.hpp"

#include <fmt/format.h>

#include <optional>

#include "fault_injection/fault_registry.hpp"
#include "fixtures/error.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/text_source.hpp"

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

}  // namespace

ChosenCases choose_cases(const CaseOptions& options) {
  LazyText text(options);
  const CaseSource source{source_folder() / "matrix" / "suites", options.models,
                          [&text] { return text.get().hash8; }};
  ChosenCases chosen;
  chosen.asked_by_id = !options.selection.ids.empty();
  for (PlannedCase& planned : enumerate(options.selection, source)) {
    require_known_faults(planned);
    if (!planned.excluded.empty()) {
      chosen.excluded.push_back(std::move(planned));
      continue;
    }
    if (!planned.spec.text_hash.empty()) {
      require_text(planned, options, text.get());
      chosen.text = text.get().file;
    }
    chosen.runnable.push_back(std::move(planned));
  }
  return chosen;
}

}  // namespace meshparity
