#include "matrix/enumerate.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"

namespace meshparity {
namespace {

struct NamedId {
  std::string id;
  std::string origin;  // "FILE:LINE: " or empty
};

// Every head with every tail: {"a", "b"} and {"x"} give {"a.x", "b.x"}.
std::vector<std::string> joined(const std::vector<std::string>& heads,
                                const std::vector<std::string>& tails) {
  std::vector<std::string> all;
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) {
      all.push_back(head + "." + tail);
    }
  }
  return all;
}

// The data token is the last of the table, so it follows whatever else is named.
std::vector<std::string> words_of(const CaseBlock& block, const CaseSource& source) {
  std::vector<std::string> words;
  for (const std::string& features : block.features) {
    for (const std::string& data : block.data) {
      const std::string text = data == "text" ? "text_" + source.text_hash() : "";
      const bool plain = features == "plain";
      words.push_back(text.empty() ? features : (plain ? text : features + "-" + text));
    }
  }
  return words;
}

std::vector<std::string> cross(const CaseBlock& block, const CaseSource& source) {
  const auto layouts = joined(joined(block.models, block.meshes), words_of(block, source));
  return joined(joined(layouts, block.precisions), block.machines);
}

std::vector<NamedId> ids_of(const Selection& selection, const CaseSource& source) {
  std::vector<NamedId> ids;
  for (const std::string& id : selection.ids) {
    ids.push_back({id, ""});
  }
  if (!ids.empty()) {
    return ids;
  }
  const Suite suite = load_suite(source.suites, selection.suite);
  for (const CaseBlock& block : suite.blocks) {
    for (const std::string& id : cross(block, source)) {
      ids.push_back({id, fmt::format("{}:{}: ", suite.origin, block.line)});
    }
  }
  return ids;
}

bool is_kept(const std::string& id, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& glob) {
           return matches_glob(id, glob);
         });
}

struct LoadedModel {
  ModelSpec spec;
  std::string file_hash;
};

LoadedModel load(const CaseSpec& spec, const CaseSource& source) {
  LoadedModel loaded{load_named_model(source.models, spec.model),
                     sha256_hex_of_file(source.models / (spec.model + ".toml"))};
  if (!spec.model_hash.empty() && !loaded.file_hash.starts_with(spec.model_hash)) {
    throw UsageError(fmt::format("model {}@{}: the file {} has hash {}", spec.model,
                                 spec.model_hash, (source.models / (spec.model + ".toml")).string(),
                                 loaded.file_hash.substr(0, 8)));
  }
  return loaded;
}

std::string why_excluded(const ModelSpec& model, const CaseSpec& spec) {
  if (const auto reason = why_illegal(model, spec)) {
    return *reason;
  }
  try {
    require_built(spec);
  } catch (const NotBuiltYet& refusal) {
    // The reason stands beside the id: no need to name the case again.
    const std::string reason = refusal.what();
    const std::string named = fmt::format("case \"{}\": ", format_case(spec));
    return reason.starts_with(named) ? reason.substr(named.size()) : reason;
  }
  return "";
}

PlannedCase plan_case(const NamedId& named, const CaseSource& source,
                      std::map<std::string, LoadedModel>& models) {
  try {
    PlannedCase planned;
    planned.id = named.id;
    planned.spec = parse_case(named.id);
    const std::string model = planned.spec.model + "@" + planned.spec.model_hash;
    if (!models.contains(model)) {
      models.emplace(model, load(planned.spec, source));
    }
    planned.model = models.at(model).spec;
    planned.model_file_hash = models.at(model).file_hash;
    planned.excluded = why_excluded(planned.model, planned.spec);
    return planned;
  } catch (const UsageError& refusal) {
    throw UsageError(named.origin + refusal.what());
  }
}

std::string what_was_asked(const Selection& selection) {
  return selection.ids.empty() ? fmt::format("suite {}", selection.suite)
                               : fmt::format("{} case ids", selection.ids.size());
}

}  // namespace

bool matches_glob(std::string_view text, const std::string& glob) {
  return fnmatch(glob.c_str(), std::string(text).c_str(), 0) == 0;
}

std::vector<PlannedCase> enumerate(const Selection& selection, const CaseSource& source) {
  std::vector<PlannedCase> cases;
  std::map<std::string, LoadedModel> models;
  std::set<std::string> seen;
  for (const NamedId& named : ids_of(selection, source)) {
    if (is_kept(named.id, selection.only) && seen.insert(named.id).second) {
      cases.push_back(plan_case(named, source, models));
    }
  }
  if (cases.empty()) {
    throw UsageError(fmt::format("no case of {} matches {}; `meshparity list` shows what there is",
                                 what_was_asked(selection), fmt::join(selection.only, " or ")));
  }
  return cases;
}

}  // namespace meshparity
