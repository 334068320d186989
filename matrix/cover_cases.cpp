#include "matrix/cover_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "fixtures/case_features.hpp"
#include "fixtures/case_words.hpp"
#include "fixtures/error.hpp"
#include "matrix/cover_sample.hpp"

namespace meshparity {
namespace {

/// A value that nothing could come of beside the others is not covered there.
std::optional<std::string> why_idle(const CaseSpec& spec) {
  if (spec.order != kDefaultOrder && mesh_words(spec.mesh).size() < 2) {
    return "a rank order changes nothing with fewer than two axes";
  }
  if (spec.eager && spec.mesh.world_size() == 1) {
    return "completion changes nothing without a peer";
  }
  return std::nullopt;
}

/// Makes a case one with a factor's value.
using Change = std::function<void(CaseSpec& spec)>;

Change token_change(const std::string& token) {
  const auto change = [token](CaseSpec& spec) {
    const std::array<std::string_view, 1> tokens = {token};
    read_feature_tokens(tokens, TokenScope::all, spec);
  };
  CaseSpec trial;
  change(trial);  // throws when no feature has the token
  return change;
}

Change change_of(const std::string& factor, const std::string& value, const CaseSource& source) {
  if (factor == "model") {
    return [value](CaseSpec& spec) { spec.model = value; };
  }
  if (factor == "precision") {
    const CaseSpec named = parse_case(fmt::format("m.single.plain.{}.host-threads", value));
    return [precision = named.precision](CaseSpec& spec) { spec.precision = precision; };
  }
  if (factor == "machine") {
    const CaseSpec named = parse_case(fmt::format("m.single.plain.fp64.{}", value));
    return [machine = named.machine](CaseSpec& spec) { spec.machine = machine; };
  }
  if (const auto axis = read_axis_word(value)) {
    return [axis](CaseSpec& spec) { spec.mesh.set_degree(axis->first, axis->second); };
  }
  if (value == "plain") {
    return [](CaseSpec&) {};
  }
  return token_change(value == "text" ? "text_" + source.text_hash() : value);
}

class CoverOfCases {
 public:
  CoverOfCases(const CoverBlock& block, const std::string& origin, const CaseSource& source,
               CasePlanner& planner)
      : block_(block), place_(fmt::format("{}:{}", origin, block.line)), planner_(planner) {
    problem_.strength = block.strength;
    for (const CoverFactor& factor : block.factors) {
      changes_.push_back(changes_of(factor, source));
    }
    for (std::size_t f = 0; f < changes_.size(); ++f) {
      problem_.factors.push_back({block.factors[f].name, block.factors[f].values, is_of_key(f)});
    }
    problem_.why_not = [this](const CoverRow& row) { return why_not(row); };
    problem_.cost = [this](const CoverRow& row) { return case_of(row).mesh.world_size(); };
  }

  CoveredCases make() {
    const Cover cover = make_cover(problem_);
    if (cover.rows.empty()) {
      throw UsageError(fmt::format(
          "{}: no case is legal: {}", place_,
          cover.excluded.empty() ? "no factor has a value" : cover.excluded.front().reason));
    }
    CoveredCases made;
    std::vector<CoverRow> rows = sample_rows(problem_, cover, block_.sample, block_.seed);
    made.summary = {place_,      block_.strength, cover.legal, cover.rows.size(),
                    rows.size(), cover.keys,      cover.cost,  {}};
    rows.insert(rows.begin(), cover.rows.begin(), cover.rows.end());
    for (const CoverRow& row : rows) {
      made.cases.push_back(case_of(row));
    }
    for (const ExcludedCombination& each : cover.excluded) {
      made.summary.excluded.push_back({text_of(each.combination), each.reason});
    }
    return made;
  }

 private:
  std::vector<Change> changes_of(const CoverFactor& factor, const CaseSource& source) const {
    std::vector<Change> changes;
    for (const std::string& value : factor.values) {
      try {
        changes.push_back(change_of(factor.name, value, source));
      } catch (const UsageError& refusal) {
        throw UsageError(fmt::format("{}: {}", place_, refusal.what()));
      }
    }
    return changes;
  }

  CaseSpec case_of(const CoverRow& row) const {
    CaseSpec spec;
    for (std::size_t f = 0; f < row.size(); ++f) {
      changes_[f][static_cast<std::size_t>(row[f])](spec);
    }
    return spec;
  }

  /// Whether another value of the factor needs another reference, all else at its first value.
  bool is_of_key(std::size_t factor) const {
    const std::optional<std::string> first = key_with(factor, 0);
    for (std::size_t value = 1; value < changes_[factor].size(); ++value) {
      if (key_with(factor, value) != first) {
        return true;
      }
    }
    return false;
  }

  /// Nothing where these values make no case.
  std::optional<std::string> key_with(std::size_t factor, std::size_t value) const {
    CoverRow row(changes_.size(), 0);
    row[factor] = static_cast<int>(value);
    CaseSpec spec = case_of(row);
    spec.model = spec.model.empty() ? "m" : spec.model;
    try {
      return reference_key(spec);
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }

  std::optional<std::string> why_not(const CoverRow& row) const {
    if (const auto reason = why_restricted(row)) {
      return reason;
    }
    const CaseSpec spec = case_of(row);
    const int world = spec.mesh.world_size();
    if (world > block_.world_at_most) {
      return fmt::format("world {} is above this suite's {}", world, block_.world_at_most);
    }
    if (const auto reason = why_idle(spec)) {
      return reason;
    }
    try {
      const std::string reason = planner_.why_excluded(spec);
      return reason.empty() ? std::nullopt : std::optional(reason);
    } catch (const UsageError& refusal) {
      return refusal.what();
    }
  }

  /// A restricted value allows of each factor that its list mentions the listed values only.
  std::optional<std::string> why_restricted(const CoverRow& row) const {
    for (const CoverRestriction& each : block_.restrictions) {
      const auto listed = [&](const std::string& value) {
        return std::count(each.to.begin(), each.to.end(), value) > 0;
      };
      if (!holds(row, each.value)) {
        continue;
      }
      for (std::size_t f = 0; f < row.size(); ++f) {
        const auto& values = block_.factors[f].values;
        if (std::any_of(values.begin(), values.end(), listed) &&
            !listed(values[static_cast<std::size_t>(row[f])])) {
          return fmt::format("this suite lets {} range over {} only", each.value,
                             fmt::join(each.to, ", "));
        }
      }
    }
    return std::nullopt;
  }

  bool holds(const CoverRow& row, const std::string& value) const {
    for (std::size_t f = 0; f < row.size(); ++f) {
      if (block_.factors[f].values[static_cast<std::size_t>(row[f])] == value) {
        return true;
      }
    }
    return false;
  }

  std::string text_of(const Combination& combination) const {
    std::vector<std::string> words;
    for (const FactorValue& each : combination) {
      const CoverFactor& factor = block_.factors[each.factor];
      const std::string& value = factor.values[static_cast<std::size_t>(each.value)];
      words.push_back(value == "plain" ? "no " + factor.name : value);
    }
    return fmt::format("{}", fmt::join(words, " with "));
  }

  const CoverBlock& block_;
  std::string place_;
  CasePlanner& planner_;
  std::vector<std::vector<Change>> changes_;  // by factor and value
  CoverProblem problem_;
};

}  // namespace

CoveredCases cover_cases(const CoverBlock& block, const std::string& origin,
                         const CaseSource& source, CasePlanner& planner) {
  return CoverOfCases(block, origin, source, planner).make();
}

std::string describe_cover(const CoverSummary& summary) {
  const std::string name = summary.strength == 1 ? "values"
                           : summary.strength == 2
                               ? "pairs of values"
                               : fmt::format("sets of {} values", summary.strength);
  const std::string sample =
      summary.sampled > 0 ? fmt::format(", and {} cases more by chance", summary.sampled) : "";
  return fmt::format("{0} of {0} legal {1} in {2} cases ({3} ranks, {4} keys); {5} excluded{6}",
                     summary.legal, name, summary.cases, summary.ranks, summary.keys,
                     summary.excluded.size(), sample);
}

}  // namespace meshparity
