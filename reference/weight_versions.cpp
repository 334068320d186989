#include "reference/weight_versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include "fixtures/case_rules.hpp"
#include "fixtures/error.hpp"

namespace meshparity::reference {
namespace {

constexpr std::string_view kLayer = "layer";

int piece_of(std::string_view name, int layers) {
  if (name.starts_with("embed.")) {
    return 0;
  }
  if (!name.starts_with(kLayer)) {
    return layers + 1;
  }
  int layer = 0;
  std::from_chars(name.data() + kLayer.size(), name.data() + name.size(), layer);
  return layer + 1;
}

std::vector<int> pieces_of_stages(int pieces, const CaseSpec& spec) {
  if (!spec.split.empty()) {
    return spec.split;
  }
  const int stages = stage_count(spec);
  std::vector<int> counts(static_cast<std::size_t>(stages), pieces / stages);
  for (int stage = 0; stage < pieces % stages; ++stage) {
    ++counts[static_cast<std::size_t>(stage)];
  }
  return counts;
}

int oldest_used(const CaseSpec& spec, int step) {
  return version_used(spec, 0, step);
}

}  // namespace

int stage_count(const CaseSpec& spec) {
  return spec.mesh.degree(Axis::pp);
}

std::vector<int> stages_of(const std::vector<ParamSpec>& table, int layers, const CaseSpec& spec) {
  std::vector<int> ends = pieces_of_stages(layers + 2, spec);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<int> stages;
  for (const ParamSpec& param : table) {
    const auto stage = std::upper_bound(ends.begin(), ends.end(), piece_of(param.name, layers));
    stages.push_back(static_cast<int>(stage - ends.begin()));
  }
  return stages;
}

int version_used(const CaseSpec& spec, int stage, int step) {
  const int last = stage_count(spec) - 1;
  switch (spec.schedule) {
    case Schedule::pipedream:
      return std::max(0, step - (last - stage));
    case Schedule::pipedream_vsync:
      return std::max(0, step - last);
    case Schedule::pipedream_2bw:
      return std::max(0, step - 1);
    default:
      return step;
  }
}

void keep_version(const CaseSpec& spec, int step, Versions& versions) {
  if (is_asynchronous(spec.schedule)) {
    versions.past[step] = versions.newest.parameters;
    versions.past.erase(versions.past.begin(),
                        versions.past.lower_bound(oldest_used(spec, step + 1)));
  }
}

State state_read(const CaseSpec& spec, const std::vector<int>& stages, int step,
                 const Versions& versions) {
  State read = versions.newest;
  for (std::size_t i = 0; i < read.parameters.size(); ++i) {
    const int version = version_used(spec, stages[i], step);
    if (version == step) {
      continue;
    }
    const auto held = versions.past.find(version);
    if (held == versions.past.end()) {
      throw Error(fmt::format("step {} reads version {} of stage {}, which is not held", step,
                              version, stages[i]));
    }
    read.parameters[i] = held->second[i];
  }
  return read;
}

}  // namespace meshparity::reference
