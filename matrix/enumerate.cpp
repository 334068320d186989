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
  std::string origin;                       // "FILE:LINE: " or empty
  std::vector<std::string> relations = {};  // empty: a case to be judged
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

void add_block(const std::string& origin, const CaseBlock& block, const CaseSource& source,
               std::vector<NamedId>& ids) {
  for (const std::string& id : cross(block, source)) {
    ids.push_back({id, fmt::format("{}:{}: ", origin, block.line), block.relations});
  }
}

std::vector<NamedId> ids_of(const Selection& selection, const CaseSource& source) {
  std::vector<NamedId> ids;
  for (const std::string& id : selection.ids) {
    ids.push_back({id, "", selection.relations});
  }
  if (!ids.empty()) {
    return ids;
  }
  const Suite suite = load_suite(source.suites, selection.suite);
  for (const CaseBlock& block : suite.blocks) {
    add_block(suite.origin, block, source, ids);
  }
  for (const CaseBlock& block : suite.relations) {
    add_block(suite.origin, block, source, ids);
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

using Models = std::map<std::string, LoadedModel>;

PlannedCase plan_spec(const CaseSpec& spec, const CaseSource& source, Models& models) {
  const std::string model = spec.model + "@" + spec.model_hash;
  if (!models.contains(model)) {
    models.emplace(model, load(spec, source));
  }
  PlannedCase planned;
  planned.id = format_case(spec);
  planned.spec = spec;
  planned.model = models.at(model).spec;
  planned.model_file_hash = models.at(model).file_hash;
  planned.excluded = why_excluded(planned.model, spec);
  return planned;
}

PlannedRelation plan_relation(const PlannedCase& first, const Relation& relation,
                              const CaseSource& source, Models& models) {
  PlannedRelation planned;
  planned.relation = &relation;
  planned.first = first;
  planned.excluded = first.excluded;
  const auto partner = relation.partner(first.spec);
  if (!partner) {
    planned.excluded = fmt::format("relation {} says nothing of this case", relation.name);
    return planned;
  }
  planned.partner = plan_spec(partner->spec, source, models);
  planned.partner_level = partner->level;
  planned.again = partner->again;
  if (planned.excluded.empty() && !planned.partner.excluded.empty()) {
    planned.excluded = planned.partner.excluded + " (of its partner)";
  }
  return planned;
}

class Enumerator {
 public:
  explicit Enumerator(const CaseSource& source) : source_(source) {}

  void add(const NamedId& named) {
    try {
      const PlannedCase planned = plan_spec(parse_case(named.id), source_, models_);
      if (named.relations.empty() && seen_.insert(named.id).second) {
        found_.cases.push_back(planned);
      }
      for (const std::string& name : named.relations) {
        const Relation& relation = find_relation(name);
        if (seen_.insert(named.id + " " + name).second) {
          found_.relations.push_back(plan_relation(planned, relation, source_, models_));
        }
      }
    } catch (const UsageError& refusal) {
      throw UsageError(named.origin + refusal.what());
    }
  }
  Enumeration found() && { return std::move(found_); }

 private:
  const CaseSource& source_;
  Models models_;
  std::set<std::string> seen_;
  Enumeration found_;
};

std::string what_was_asked(const Selection& selection) {
  return selection.ids.empty() ? fmt::format("suite {}", selection.suite)
                               : fmt::format("{} case ids", selection.ids.size());
}

}  // namespace

bool matches_glob(std::string_view text, const std::string& glob) {
  return fnmatch(glob.c_str(), std::string(text).c_str(), 0) == 0;
}

Enumeration enumerate(const Selection& selection, const CaseSource& source) {
  Enumerator enumerator(source);
  for (const NamedId& named : ids_of(selection, source)) {
    if (is_kept(named.id, selection.only)) {
      enumerator.add(named);
    }
  }
  Enumeration found = std::move(enumerator).found();
  if (found.cases.empty() && found.relations.empty()) {
    throw UsageError(fmt::format("no case of {} matches {}; `meshparity list` shows what there is",
                                 what_was_asked(selection), fmt::join(selection.only, " or ")));
  }
  return found;
}

}  // namespace meshparity
