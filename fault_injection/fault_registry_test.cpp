#include "fault_injection/fault_registry.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "fixtures/case_spec.hpp"
#include "fixtures/record_table.hpp"

namespace meshparity {
namespace {

ModelSpec two_layers() {
  ModelSpec model;
  model.name = "gpt-tiny";
  model.layers = 2;
  model.hidden = 72;
  model.ffn = 264;
  model.heads = model.kv_heads = 24;
  model.head_dim = 3;
  model.vocabulary = 257;
  model.padded_vocabulary = 264;
  model.sequence = 21;
  model.global_batch = 48;
  return model;
}

bool standard_holds(const std::string& id, const std::string& record) {
  for (const RecordSpec& spec : record_table(two_layers(), parse_case(id))) {
    if (spec.name == record && spec.level <= Level::standard) {
      return true;
    }
  }
  return false;
}

TEST(FaultRegistry, NamesEachFaultOnce) {
  std::set<std::string> names;
  for (const NamedFault& fault : fault_registry()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_EQ(&find_fault(fault.name), &fault);
  }
}

TEST(FaultRegistry, DeclaresForEachFaultWhatATestNeeds) {
  for (const NamedFault& fault : fault_registry()) {
    SCOPED_TRACE(fault.name);
    EXPECT_FALSE(fault.kind.empty());
    EXPECT_FALSE(fault.role.empty());
    EXPECT_FALSE(fault.phase.empty());
    EXPECT_FALSE(fault.invisible_in.empty());
    EXPECT_FALSE(fault.ranks.empty());
    EXPECT_EQ(fault.acts_in.empty(), fault.check.empty());
    EXPECT_EQ(fault.related.empty(), fault.relation.empty());
    EXPECT_TRUE(!fault.acts_in.empty() || !fault.related.empty() || fault.kind == "harmless");
    const std::set<std::string> about_calls = {"", "liveness", "collectives", "memory", "schedule"};
    const bool names_none = about_calls.count(fault.check) > 0;
    EXPECT_TRUE(names_none ? fault.record.empty()
                           : standard_holds(fault.acts_in.front(), fault.record))
        << fault.record;
  }
}

TEST(FaultRegistry, HasThreeMechanismsOfEachKindAtLeast) {
  std::map<std::string, int> mechanisms;
  for (const NamedFault& fault : fault_registry()) {
    mechanisms[fault.kind] += fault.kind == "harmless" ? 3 : 1;
  }
  EXPECT_EQ(mechanisms.size(), 12U);
  for (const auto& [kind, count] : mechanisms) {
    EXPECT_GE(count, 3) << kind;
  }
}

// axis_took_effect alone is no verdict.
TEST(FaultRegistry, HasAFaultThatEachCheckFindsFirst) {
  std::set<std::string> checks;
  for (const NamedFault& fault : fault_registry()) {
    checks.insert(fault.check);
  }
  EXPECT_EQ(checks, (std::set<std::string>{"", "liveness", "coverage", "replicas", "forward",
                                           "logits", "loss", "backward", "grad", "scalar", "step",
                                           "collectives", "memory", "schedule"}));
}

TEST(FaultRegistry, NamesCasesThatAreCanonicalBuiltAndTakeTheFault) {
  for (const NamedFault& fault : fault_registry()) {
    for (const std::vector<std::string>* list :
         {&fault.acts_in, &fault.invisible_in, &fault.related}) {
      for (const std::string& id : *list) {
        SCOPED_TRACE(id);
        EXPECT_NO_THROW(require_built(parse_case(id)));
        const CaseSpec harmed = parse_case(with_fault(id, fault));
        EXPECT_EQ(FaultPlan(harmed, 0).fired().size(), 1U);
      }
    }
  }
}

}  // namespace
}  // namespace meshparity
