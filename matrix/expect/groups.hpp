// Which ranks talk with each other, by matrix's own formula (algorithms.md §9.1, §9.2): a group is
// held against this, its order included, since sums run in it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"

namespace meshparity::expect {

/// Ranks in canonical order: by coordinate on dp, then cp, pp, ep, tp, whatever their numbers.
struct Group {
  std::string axes;  // "tp", "dp,cp"
  std::vector<int> ranks;

  int size() const { return static_cast<int>(ranks.size()); }
  /// "0 4 8", as a ledger writes it.
  std::string text() const;
};

/// The ranks in a ledger's text, in its order; what is no number between them is passed over.
std::vector<int> ranks_in(std::string_view text);

/// "dp,pp" without the axes that the case has one rank on, as "dp" where pp is 1; a text that names
/// no axis is left as it is.
std::string axes_that_cut(const CaseSpec& spec, const std::string& axes);

/// All ranks that agree with `rank` on every other axis; on the expert grid when ep or etp is among
/// the axes.
Group group_along(const CaseSpec& spec, int rank, std::span<const Axis> axes);

/// Every group along these axes of the dense grid, by its least rank; together they hold each rank
/// once.
std::vector<Group> all_groups(const CaseSpec& spec, std::span<const Axis> axes);

/// Ranks of tp in a row that hold the same key heads: tp / kv_heads of them where there are fewer
/// key heads than ranks (algorithms.md §1.4, A), else the rank alone.
Group same_key_heads(const CaseSpec& spec, const ModelSpec& model, int rank);

}  // namespace meshparity::expect
