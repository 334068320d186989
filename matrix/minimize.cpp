#include "matrix/minimize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "fixtures/error.hpp"
#include "matrix/minimize_reductions.hpp"

namespace meshparity {
namespace {

/// "layer*.attn.out" of "layer12.attn.out": smaller models have fewer layers.
std::string record_kind(const std::string& record) {
  constexpr std::string_view kLayer = "layer";
  if (!record.starts_with(kLayer)) {
    return record;
  }
  std::size_t end = kLayer.size();
  while (end < record.size() && std::isdigit(static_cast<unsigned char>(record[end])) != 0) {
    ++end;
  }
  return fmt::format("{}*{}", kLayer, record.substr(end));
}

class Search {
 public:
  Search(CaseSpec start, const MinimizeOracle& oracle, int limit)
      : oracle_(oracle), limit_(limit), smallest_(std::move(start)) {}

  Minimized run() {
    const std::string id = format_case(smallest_);
    sought_ = *seen(smallest_);
    if (sought_.verdict != Verdict::diverges) {
      const bool conforms = sought_.verdict == Verdict::conforms;
      throw UsageError(
          conforms ? fmt::format("{} conforms: there is nothing to minimize", id)
                   : fmt::format("{} is inconclusive: minimize needs a case that diverges", id));
    }
    oracle_.tell({id, "the case itself", sought_, true});
    while (pass() && !spent_) {
    }
    Minimized found{smallest_, sought_, distinctive_words(smallest_), {}, 0, 0, !spent_};
    found.defaults = needed_defaults();
    found.runs = runs_;
    found.undecided =
        static_cast<int>(std::count_if(sightings_.begin(), sightings_.end(), [](const auto& seen) {
          return seen.second.verdict == Verdict::inconclusive;
        }));
    return found;
  }

 private:
  /// Tries to make each thing smaller once; true when something was. The last pass, in which
  /// nothing was, is what shows that the case is minimal.
  bool pass() {
    bool reduced = false;
    for (const Reducer& reducer : all_reducers()) {
      for (const Reduction& reduction : reducer(smallest_)) {
        if (diverges_alike(reduction)) {
          smallest_ = reduction.spec;
          reduced = true;
          break;
        }
      }
    }
    return reduced;
  }

  bool diverges_alike(const Reduction& reduction) {
    if (!oracle_.is_legal(reduction.spec)) {
      return false;
    }
    const std::string id = format_case(reduction.spec);
    const bool known = sightings_.contains(id);
    const std::optional<Sighting> sighting = seen(reduction.spec);
    const bool alike = sighting == sought_;
    if (sighting && !known) {
      oracle_.tell({id, reduction.change, *sighting, alike});
    }
    return alike;
  }

  /// Nothing when the case is not known and there is no run left for it.
  std::optional<Sighting> seen(const CaseSpec& spec) {
    const std::string id = format_case(spec);
    const auto known = sightings_.find(id);
    if (known != sightings_.end()) {
      return known->second;
    }
    if (runs_ >= limit_) {
      spent_ = true;
      return std::nullopt;
    }
    ++runs_;
    return sightings_.emplace(id, oracle_.look(spec)).first->second;
  }

  /// A case without one of them that diverges otherwise says nothing of it: only conforming tells.
  std::vector<std::string> needed_defaults() {
    std::vector<std::string> needed;
    for (const KindCase& kind : kind_cases(smallest_)) {
      if (!oracle_.is_legal(kind.spec)) {
        continue;
      }
      const bool known = sightings_.contains(format_case(kind.spec));
      const std::optional<Sighting> sighting = seen(kind.spec);
      if (sighting && !known) {
        oracle_.tell(
            {format_case(kind.spec), "without " + kind.unkind, *sighting, sighting == sought_});
      }
      if (sighting && sighting->verdict == Verdict::conforms) {
        needed.push_back(kind.unkind);
      }
    }
    return needed;
  }

  const MinimizeOracle& oracle_;
  int limit_;
  CaseSpec smallest_;
  Sighting sought_;
  std::map<std::string, Sighting> sightings_;  // by case id
  int runs_ = 0;
  bool spent_ = false;  // a case was not run because of the limit
};

}  // namespace

Sighting sighting_of(const CaseReport& report) {
  const Finding* cause = first_cause(report);
  if (cause == nullptr) {
    return {report.verdict, ""};
  }
  return {report.verdict, cause->record.empty()
                              ? cause->check
                              : fmt::format("{}: {} {}", cause->check, phase_name(cause->phase),
                                            record_kind(cause->record))};
}

Minimized minimize(const CaseSpec& start, const MinimizeOracle& oracle, int limit) {
  if (limit < 1) {
    throw UsageError(fmt::format("{} runs find nothing; give at least 1", limit));
  }
  return Search(start, oracle, limit).run();
}

}  // namespace meshparity
