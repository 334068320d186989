#include "fault_injection/fault_registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

constexpr std::string_view kSingle = "gpt-tiny.single.plain.fp64.host-threads";
constexpr std::string_view kTp2 = "gpt-tiny.tp2.plain.fp64.host-threads";
constexpr std::string_view kDp2 = "gpt-tiny.dp2.plain.fp64.host-threads";
constexpr std::string_view kDp2Tp3 = "gpt-tiny.dp2-tp3.mb2.fp64.host-threads";

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

}  // namespace

const std::vector<NamedFault>& fault_registry() {
  static const std::vector<NamedFault> registry = {skip_rowlinear_sum(), rowbias_every_rank(),
                                                   skip_dp_grad(), epsilon_before_correction()};
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
