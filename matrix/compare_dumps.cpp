#include "matrix/compare_dumps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "matrix/bound.hpp"
#include "matrix/checks/follows.hpp"
#include "matrix/dump_set.hpp"
#include "matrix/equal_records.hpp"
#include "matrix/judge_records.hpp"

namespace meshparity {
namespace {

std::optional<CaseSpec> parsed(const std::string& id) {
  try {
    return parse_case(id);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Those of the candidate's lane; else of another, for the judge to say so; empty without any.
std::filesystem::path companions_beside(const std::filesystem::path& dump,
                                        const std::string& candidate_id) {
  const auto spec = parsed(candidate_id);
  const std::string own = spec ? lane_of(spec->precision).companions : "fp32";
  const std::filesystem::path folder =
      std::filesystem::is_directory(dump) ? dump : dump.parent_path();
  for (const std::string& lane :
       {own, std::string("fp32"), std::string("tf32"), std::string("bf16")}) {
    const std::filesystem::path file = folder / fmt::format("companions_{}.h5", lane);
    if (std::filesystem::exists(file)) {
      return file;
    }
  }
  return {};
}

std::vector<std::string> words_of(const std::string& id) {
  std::vector<std::string> words(1);
  for (const char letter : id) {
    if ((letter == '.' && words.size() < 5) || (letter == '+' && words.size() == 5)) {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  words.resize(6);
  return words;
}

/// Field by field: "mesh: dp2 against tp2".
std::vector<std::string> differing_fields(const std::string& left, const std::string& right) {
  constexpr std::array<const char*, 6> kFields = {"model",     "mesh",    "features",
                                                  "precision", "machine", "events"};
  const std::vector<std::string> a = words_of(left);
  const std::vector<std::string> b = words_of(right);
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if (a[i] != b[i]) {
      fields.push_back(fmt::format("{}: {} against {}", kFields[i], a[i].empty() ? "none" : a[i],
                                   b[i].empty() ? "none" : b[i]));
    }
  }
  return fields;
}

/// A reference serves every case of its key; other dumps are alike when their cases are equal.
std::vector<std::string> differences(const DumpSet& reference, const DumpSet& candidate,
                                     bool by_bounds) {
  const std::string& left = reference.header().case_id;
  const std::string& right = candidate.header().case_id;
  if (by_bounds) {
    const auto a = parsed(left);
    const auto b = parsed(right);
    if (a && b) {
      return differing_fields(reference_key(*a), reference_key(*b));
    }
  }
  return differing_fields(left, right);
}

Evidence evidence_of(const std::filesystem::path& companions, const DumpSet& reference,
                     const DumpSet& candidate) {
  const DumpHeader& header = candidate.header();
  Evidence evidence;
  evidence.spec = parse_case(header.case_id);
  evidence.level = std::min(header.level, reference.header().level);
  evidence.companions = companions;
  return evidence;
}

/// Without a name when the folder does not hold the case's model.
ModelSpec model_of(const CompareOptions& options, const CaseSpec& spec) {
  const std::filesystem::path file = options.models / (spec.model + ".toml");
  if (options.models.empty() || !std::filesystem::is_regular_file(file)) {
    return {};
  }
  const bool same =
      spec.model_hash.empty() || sha256_hex_of_file(file).starts_with(spec.model_hash);
  return same ? load_model(file) : ModelSpec{};
}

void rebase(const CompareOptions& options, const DumpSet& reference, const DumpSet& candidate,
            Evidence& evidence) {
  if (!options.rebase || evidence.level < Level::standard) {
    return;
  }
  try {
    evidence.rebased = options.rebase({evidence.spec, evidence.level, reference, candidate});
  } catch (const Error& error) {
    evidence.not_rebased = error.what();
  }
}

void require_values(const CaseSpec& spec) {
  if (is_probe(spec)) {
    throw UsageError(fmt::format(
        "{} is a probe: its dump shows indices, no values; `run` judges it, and --exact compares "
        "two of them",
        format_case(spec)));
  }
}

}  // namespace

Comparison compare_dumps(const std::filesystem::path& reference,
                         const std::filesystem::path& candidate, const CompareOptions& options) {
  const DumpSet left(reference);
  const DumpSet right(candidate);
  require_readable(left);
  require_readable(right);
  const std::filesystem::path companions = companions_beside(reference, right.header().case_id);
  const bool by_bounds = !options.exact && !companions.empty();

  Comparison comparison;
  comparison.differences = differences(left, right, by_bounds);
  if (!comparison.differences.empty() && !options.across) {
    throw UsageError(fmt::format("dumps of unlike cases ({}); --across compares them all the same",
                                 fmt::join(comparison.differences, "; ")));
  }
  if (by_bounds) {
    Evidence evidence = evidence_of(companions, left, right);
    require_values(evidence.spec);
    evidence.model = model_of(options, evidence.spec);
    rebase(options, left, right, evidence);
    CaseReport report;
    report.checks = judge_records(evidence, left, right);
    report.verdict = gravest(report.checks);
    mark_followers(report);
    comparison.checks = std::move(report.checks);
  } else {
    comparison.checks.push_back(check_equal_dumps(left, right));
  }
  comparison.verdict = gravest(comparison.checks);
  return comparison;
}

}  // namespace meshparity
