#include "matrix/enumerate.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "fixtures/error.hpp"

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

bool is_kept(const std::string& id, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& glob) {
           return matches_glob(id, glob);
         });
}

PlannedRelation plan_relation(const PlannedCase& first, const Relation& relation,
                              CasePlanner& planner) {
  PlannedRelation planned;
  planned.relation = &relation;
  planned.first = first;
  planned.excluded = first.excluded;
  const auto partner = relation.partner(first.spec);
  if (!partner) {
    planned.excluded = fmt::format("relation {} says nothing of this case", relation.name);
    return planned;
  }
  planned.partner = planner.plan(partner->spec);
  planned.partner_level = partner->level;
  planned.again = partner->again;
  if (planned.excluded.empty() && !planned.partner.excluded.empty()) {
    planned.excluded = planned.partner.excluded + " (of its partner)";
  }
  return planned;
}

class Enumerator {
 public:
  Enumerator(const Selection& selection, const CaseSource& source)
      : selection_(selection), source_(source), planner_(source) {}

  Enumeration run() {
    for (const std::string& id : selection_.ids) {
      add({id, "", selection_.relations});
    }
    if (selection_.ids.empty() && !selection_.relations.empty()) {
      throw UsageError(fmt::format(
          "relation {} of which cases? name them; a suite has its own relations, see suite exact",
          fmt::join(selection_.relations, ", ")));
    }
    if (selection_.ids.empty()) {
      add(load_suite(source_.suites, selection_.suite));
    }
    return std::move(found_);
  }

 private:
  void add(const Suite& suite) {
    for (const CoverBlock& block : suite.covers) {
      CoveredCases covered = cover_cases(block, suite.origin, source_, planner_);
      for (const CaseSpec& spec : covered.cases) {
        add({format_case(spec), "", {}});
      }
      found_.covers.push_back(std::move(covered.summary));
    }
    std::vector<NamedId> ids;
    for (const CaseBlock& block : suite.blocks) {
      add_block(suite.origin, block, source_, ids);
    }
    for (const CaseBlock& block : suite.relations) {
      add_block(suite.origin, block, source_, ids);
    }
    for (const NamedId& named : ids) {
      add(named);
    }
  }

  void add(const NamedId& named) {
    if (!is_kept(named.id, selection_.only)) {
      return;
    }
    try {
      const PlannedCase planned = planner_.plan(parse_case(named.id));
      if (named.relations.empty() && seen_.insert(named.id).second) {
        found_.cases.push_back(planned);
      }
      for (const std::string& name : named.relations) {
        const Relation& relation = find_relation(name);
        if (seen_.insert(named.id + " " + name).second) {
          found_.relations.push_back(plan_relation(planned, relation, planner_));
        }
      }
    } catch (const UsageError& refusal) {
      throw UsageError(named.origin + refusal.what());
    }
  }

  const Selection& selection_;
  const CaseSource& source_;
  CasePlanner planner_;
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
  Enumeration found = Enumerator(selection, source).run();
  if (found.cases.empty() && found.relations.empty()) {
    throw UsageError(fmt::format("no case of {} matches {}; `meshparity list` shows what there is",
                                 what_was_asked(selection), fmt::join(selection.only, " or ")));
  }
  return found;
}

}  // namespace meshparity
