#include "fault_injection/fault_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

constexpr std::string_view kSingle = "gpt-tiny.single.plain.fp64.host-threads";
constexpr std::string_view kTp2 = "gpt-tiny.tp2.plain.fp64.host-threads";
constexpr std::string_view kDp2 = "gpt-tiny.dp2.plain.fp64.host-threads";
constexpr std::string_view kDp2Tp3 = "gpt-tiny.dp2-tp3.mb2.fp64.host-threads";
constexpr std::string_view kSingleProbe = "gpt-tiny.single.steps1.fp64.host-threads+probe";
constexpr std::string_view kTp2Probe = "gpt-tiny.tp2.steps1.fp64.host-threads+probe";
constexpr std::string_view kDp2Probe = "gpt-tiny.dp2.steps1.fp64.host-threads+probe";
constexpr std::string_view kDp2Tp3Probe = "gpt-tiny.dp2-tp3.steps1.fp32.host-threads+probe";

// A row-parallel linear's partial products are not summed: every tensor rank goes on with its own.
// `layer0.mlp.out` differs first; level standard holds `layer0.out` first.
NamedFault skip_rowlinear_sum() {
  NamedFault fault;
  fault.name = "skip_rowlinear_sum";
  fault.kind = "missing reduction";
  fault.role = "mlp.down";
  fault.phase = "forward";
  fault.verb = CommVerb::skip;
  fault.whole_group = true;
  fault.acts_in = {std::string(kTp2), std::string(kDp2Tp3)};
  fault.invisible_in = {std::string(kSingle), std::string(kDp2)};
  fault.check = "replicas";
  fault.record = "layer0.out";
  fault.ranks = {0, 1, 2, 3, 4, 5};
  return fault;
}

// The bias of the row-parallel attention output is added on every rank before the sum, so the sum
// holds it tp times. All copies agree; only the reference tells.
NamedFault rowbias_every_rank() {
  NamedFault fault;
  fault.name = "rowbias_every_rank";
  fault.kind = "double counting";
  fault.role = "attn.out";
  fault.phase = "forward";
  fault.acts_in = {std::string(kTp2), std::string(kDp2Tp3)};
  fault.invisible_in = {std::string(kSingle), std::string(kDp2)};
  fault.check = "forward";
  fault.record = "layer0.attn.out";
  fault.ranks = {0, 1, 2, 3, 4, 5};
  return fault;
}

// One parameter is missing from the list of gradients summed over dp.
NamedFault skip_dp_grad() {
  NamedFault fault;
  fault.name = "skip_dp_grad";
  fault.kind = "missing reduction";
  fault.role = "grad.dp";
  fault.phase = "grad";
  fault.whole_group = true;
  fault.acts_in = {std::string(kDp2), std::string(kDp2Tp3)};
  fault.invisible_in = {std::string(kSingle), std::string(kTp2)};
  fault.check = "replicas";
  fault.record = "layer0.norm1.weight";
  fault.ranks = {0, 1, 2, 3, 4, 5};
  return fault;
}

// AdamW's epsilon is added before the second moment's bias is corrected: right for large t, wrong
// at first. Every rank does the same, and forward and backward know nothing of it: only the
// update's own law tells, at each step anew.
NamedFault epsilon_before_correction() {
  NamedFault fault;
  fault.name = "epsilon_before_correction";
  fault.kind = "wrong update";
  fault.role = "optimizer";
  fault.phase = "update";
  fault.acts_in = {std::string(kSingle), std::string(kDp2Tp3)};
  fault.invisible_in = {"gpt-tiny.single.sgd.fp64.host-threads",
                        "gpt-tiny.dp2.momentum.fp64.host-threads"};
  fault.check = "step";
  fault.record = "embed.weight";
  fault.ranks = {0, 1, 2, 3, 4, 5};
  return fault;
}

// Gaps of sharding, planted where a rank's slice is cut out of the whole, and a sum done twice: a
// probe shows the index that lies at each place.
NamedFault found_by_probe(std::string name, std::string kind, std::string record) {
  NamedFault fault;
  fault.name = std::move(name);
  fault.kind = std::move(kind);
  fault.role = "shard";
  fault.phase = "initialise";
  fault.acts_in = {std::string(kTp2Probe), std::string(kDp2Tp3Probe)};
  fault.invisible_in = {std::string(kSingleProbe), std::string(kDp2Probe)};
  fault.check = "coverage";
  fault.record = std::move(record);
  fault.ranks = {0, 1, 2, 3, 4, 5};
  return fault;
}

// The last column of tensor rank 0 and the first of tensor rank 1 change places.
NamedFault swap_border_columns() {
  return found_by_probe("swap_border_columns", "wrong shard", "layer0.attn.q.weight");
}

// Every slice of a bias but the first begins one element too early.
NamedFault shift_bias_shard() {
  return found_by_probe("shift_bias_shard", "wrong shard", "layer0.attn.q.bias");
}

// Each gradient is summed over dp two times. All copies agree.
NamedFault repeat_dp_grad() {
  NamedFault fault = found_by_probe("repeat_dp_grad", "double reduction", "head.weight");
  fault.role = "grad.dp";
  fault.phase = "grad";
  fault.verb = CommVerb::twice;
  fault.whole_group = true;
  fault.acts_in = {std::string(kDp2Probe), std::string(kDp2Tp3Probe)};
  fault.invisible_in = {std::string(kSingleProbe), std::string(kTp2Probe)};
  return fault;
}

}  // namespace

const std::vector<NamedFault>& fault_registry() {
  static const std::vector<NamedFault> registry = {
      skip_rowlinear_sum(),  rowbias_every_rank(), skip_dp_grad(),  epsilon_before_correction(),
      swap_border_columns(), shift_bias_shard(),   repeat_dp_grad()};
  return registry;
}

const NamedFault& find_fault(std::string_view name) {
  return find_fault(fault_registry(), name);
}

const NamedFault& find_fault(const std::vector<NamedFault>& registry, std::string_view name) {
  const auto found = std::find_if(registry.begin(), registry.end(),
                                  [&](const NamedFault& fault) { return fault.name == name; });
  if (found != registry.end()) {
    return *found;
  }
  std::string names;
  for (const NamedFault& fault : registry) {
    names += names.empty() ? fault.name : ", " + fault.name;
  }
  throw UsageError(fmt::format("no fault is named {}; there are {}", name, names));
}

}  // namespace meshparity
