// The fault hooks: which planted faults are alive at a place in the program. In a normal run none
// is, and every question is answered no.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity {

/// What a fault does to a collective; faulty_comm carries it out.
enum class CommVerb {
  skip,       // the collective is not done: each rank keeps its own contribution
  twice,      // done two times
  cast,       // payload rounded to bfloat16 first
  corrupt,    // one element of the result changed
  everyone,   // over all ranks of the world
  half,       // over the half of the group that this rank is in
  crosswise,  // over the ranks at the same place of the other groups
  reorder,    // over the same ranks, added in an order that follows from their numbers
  permute,    // the parts in reverse order
  delay,      // this rank begins late
  drop_tail,  // the last element of the result stays what it was
};

/// A place in the program, as a collective's site names it.
struct FaultPlace {
  int layer = -1;
  std::string_view role;
  std::string_view phase;
  int step = 0;
  int rank = 0;
};

struct NamedFault;

/// The faults of one case as one rank sees them. Not shared between ranks.
class FaultPlan {
 public:
  /// Throws UsageError when an event names a fault that the registry does not have, or a where-word
  /// that the fault does not take; an unharmed case gives an empty plan.
  FaultPlan(const CaseSpec& spec, int rank);
  /// The same with a registry of one's own, for tests of verbs that no named fault uses yet.
  FaultPlan(const CaseSpec& spec, int rank, const std::vector<NamedFault>& registry);

  /// True when the fault `name` is planted and its where-words match the place; remembers that it
  /// fired. For mechanisms inside the model, which ask by name. An empty plan answers at once.
  bool fires(std::string_view name, const FaultPlace& place) {
    return !planted_.empty() && matches(name, place);
  }
  /// The same in the step under way, on this plan's rank.
  bool fires(std::string_view name, int layer = -1) {
    return !planted_.empty() && matches(name, {layer, {}, {}, step_, rank_});
  }
  /// Places asked by layer alone belong to this step from now on.
  void begin_step(int step) { step_ = step; }
  /// The verb to apply to the collective at this place, if a planted fault's role and phase match;
  /// remembers that it fired.
  std::optional<CommVerb> verb_at(const FaultPlace& place);
  /// How often each planted fault fired on this rank, for /ledger/events; 0 for one that never did.
  struct Fired {
    std::string name;
    std::int64_t times = 0;
  };
  const std::vector<Fired>& fired() const { return fired_; }

 private:
  struct Planted {
    Event event;
    std::string role;
    std::string phase;
    std::optional<CommVerb> verb;
  };
  bool matches(std::string_view name, const FaultPlace& place);
  void count(std::string_view name);

  int rank_ = 0;
  int step_ = 0;
  std::vector<Planted> planted_;  // those whose where-words hold for this rank
  std::vector<Fired> fired_;      // one a name, in the order of the events
};

}  // namespace meshparity
