#include "matrix/minimize_reductions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "fixtures/case_features.hpp"

namespace meshparity {
namespace {

bool is_steps(std::string_view token) {
  return token.starts_with("steps");
}

/// The case with these feature tokens and no others.
CaseSpec with_tokens(const CaseSpec& spec, const std::vector<std::string>& tokens) {
  CaseSpec made;
  made.model = spec.model;
  made.model_hash = spec.model_hash;
  made.mesh = spec.mesh;
  made.precision = spec.precision;
  made.machine = spec.machine;
  made.events = spec.events;
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  read_feature_tokens(views, TokenScope::all, made);
  return made;
}

std::vector<Reduction> without_feature(const CaseFeature& feature, const CaseSpec& spec) {
  const std::string token = feature.write(spec);
  if (token.empty() || is_steps(token)) {
    return {};
  }
  std::vector<std::string> tokens = feature_tokens(spec, TokenScope::all);
  std::erase(tokens, token);
  return {{with_tokens(spec, tokens), "without " + token}};
}

std::vector<Reduction> fewer_micro_batches(const CaseSpec& spec) {
  std::vector<Reduction> reductions;
  for (int count = 2; count < spec.micro_batches; ++count) {
    CaseSpec made = spec;
    made.micro_batches = count;
    reductions.push_back({made, fmt::format("mb {} -> {}", spec.micro_batches, count)});
  }
  return reductions;
}

std::vector<Reduction> lower_zero_stage(const CaseSpec& spec) {
  std::vector<Reduction> reductions;
  for (int stage = 1; stage < spec.zero_stage; ++stage) {
    CaseSpec made = spec;
    made.zero_stage = stage;
    reductions.push_back({made, fmt::format("zero {} -> {}", spec.zero_stage, stage)});
  }
  return reductions;
}

/// What cannot be said of a case any more when the degree is 1.
void drop_features_of(Axis axis, CaseSpec& spec) {
  switch (axis) {
    case Axis::tp:
      spec.sequence_parallel = false;
      break;
    case Axis::dp:
      spec.zero_stage = 0;
      spec.zero_by_parameter = false;
      spec.bucket_kibi_elements = 0;
      spec.gradcomm_bf16 = false;
      break;
    case Axis::pp:
      spec.schedule = Schedule::none;
      spec.virtual_chunks = 0;
      spec.split.clear();
      break;
    case Axis::cp:
      spec.context.clear();
      break;
    case Axis::ep:
    case Axis::etp:
      break;
  }
}

std::vector<Reduction> smaller_degree(Axis axis, const CaseSpec& spec) {
  std::vector<Reduction> reductions;
  const int before = spec.mesh.degree(axis);
  for (int degree = 1; degree < before; ++degree) {
    CaseSpec made = spec;
    made.mesh.set_degree(axis, degree);
    const std::string change = fmt::format("{} {} -> {}", axis_name(axis), before, degree);
    reductions.push_back({made, change});
    drop_features_of(axis, made);
    if (degree == 1 && !(made == reductions.back().spec)) {
      reductions.push_back({made, change + " and all of it"});
    }
  }
  return reductions;
}

std::vector<Reduction> micro_model(const CaseSpec& spec) {
  const std::string micro = spec.model.substr(0, spec.model.find('-')) + "-micro";
  if (!spec.model_hash.empty() || spec.model == micro) {
    return {};
  }
  CaseSpec made = spec;
  made.model = micro;
  return {{made, fmt::format("{} -> {}", spec.model, micro)}};
}

std::vector<Reduction> fewer_steps(const CaseSpec& spec) {
  std::vector<Reduction> reductions;
  for (int steps = 1; steps < spec.steps; ++steps) {
    CaseSpec made = spec;
    made.steps = steps;
    reductions.push_back({made, fmt::format("steps {} -> {}", spec.steps, steps)});
  }
  return reductions;
}

/// A field that has one simplest value.
template <class Value>
Reducer to_simplest(Value CaseSpec::*field, std::string_view (*name)(Value)) {
  return [=](const CaseSpec& spec) -> std::vector<Reduction> {
    CaseSpec made = spec;
    made.*field = CaseSpec().*field;
    if (made == spec) {
      return {};
    }
    return {{made, fmt::format("{} -> {}", name(spec.*field), name(made.*field))}};
  };
}

}  // namespace

std::vector<Reducer> all_reducers() {
  std::vector<Reducer> reducers;
  for (const CaseFeature& feature : case_features()) {
    reducers.push_back([&feature](const CaseSpec& spec) { return without_feature(feature, spec); });
  }
  reducers.push_back(fewer_micro_batches);
  reducers.push_back(lower_zero_stage);
  for (const Axis axis : kAxes) {
    reducers.push_back([axis](const CaseSpec& spec) { return smaller_degree(axis, spec); });
  }
  reducers.push_back(micro_model);
  reducers.push_back(fewer_steps);
  reducers.push_back(to_simplest(&CaseSpec::machine, machine_name));
  reducers.push_back(to_simplest(&CaseSpec::precision, precision_name));
  return reducers;
}

std::vector<std::string> distinctive_words(const CaseSpec& spec) {
  std::vector<std::string> words = mesh_words(spec.mesh);
  for (const std::string& token : feature_tokens(spec, TokenScope::all)) {
    if (!is_steps(token)) {
      words.push_back(token);
    }
  }
  if (spec.steps > 1) {
    words.push_back(fmt::format("steps{}", spec.steps));
  }
  if (spec.precision != CaseSpec().precision) {
    words.emplace_back(precision_name(spec.precision));
  }
  if (spec.machine != CaseSpec().machine) {
    words.emplace_back(machine_name(spec.machine));
  }
  return words;
}

std::vector<KindCase> kind_cases(const CaseSpec& spec) {
  std::vector<KindCase> cases;
  const auto add = [&](auto CaseSpec::*field, auto kind, const char* unkind) {
    if (spec.*field == CaseSpec().*field) {
      cases.push_back({spec, unkind});
      cases.back().spec.*field = kind;
    }
  };
  add(&CaseSpec::dropout, false, "dropout");
  add(&CaseSpec::smoothing, false, "label smoothing");
  add(&CaseSpec::ragged, false, "ragged masks");
  add(&CaseSpec::clip, ClipMode::off, "clipping");
  add(&CaseSpec::optimizer, OptimizerKind::sgd, "adamw");
  return cases;
}

}  // namespace meshparity
