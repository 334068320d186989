#include "matrix/expect/memory.hpp"

#include <algorithm>
#include <numeric>

#include "matrix/expect/number_bytes.hpp"
#include "matrix/expect/schedule_memory.hpp"
#include "matrix/expect/shards.hpp"
#include "matrix/expect/simulate.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

std::int64_t moments_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adamw:
      return 2;
    case OptimizerKind::momentum:
      return 1;
    case OptimizerKind::sgd:
      break;
  }
  return 0;
}

std::size_t place_of_tag(std::string_view tag) {
  return static_cast<std::size_t>(std::find(kDueTags.begin(), kDueTags.end(), tag) -
                                  kDueTags.begin());
}

/// Numbers of the optimizer beside a parameter's element, in its own width.
std::int64_t state_bytes(const CaseSpec& spec) {
  const bool has_master = spec.master64 || spec.precision == Precision::bf16;
  const std::int64_t numbers = moments_of(spec.optimizer) + (has_master ? 1 : 0);
  return numbers * (spec.master64 ? 8 : number_bytes(spec));
}

RankMemory of_parameters(const Layout& layout, int rank) {
  const CaseSpec& spec = layout.spec;
  std::int64_t values = 0, gradients = 0, owned = 0;
  for (const Bucket& bucket : buckets_of(layout, rank)) {
    const std::int64_t share = share_of(bucket, layout, rank).count();
    values += bucket.is_copy ? 0 : spec.zero_stage == 3 ? share : bucket.in_memory;
    gradients += spec.zero_stage >= 2 ? share : bucket.in_memory;
    for (const Bucket::Member& member : bucket.members) {
      owned += bucket.is_copy ? 0 : owned_of(member, bucket, layout, rank).count();
    }
  }
  RankMemory memory;
  memory.bytes[place_of_tag("parameter")] = values * number_bytes(spec);
  memory.bytes[place_of_tag("gradient")] = gradients * number_bytes(spec);
  memory.bytes[place_of_tag("optimizer")] = owned * state_bytes(spec);
  return memory;
}

/// What a forward or backward pass of each chunk allocates under a tag, and when it is given back.
Holding holding_of(const std::vector<SavedTensor>& tensors, std::string_view tag, bool in_backward,
                   const CaseSpec& spec) {
  const bool until_weights = tag == "activation_W" && is_split(spec.schedule);
  Holding holding;
  holding.from = in_backward ? ActionKind::backward : ActionKind::forward;
  holding.until = until_weights ? ActionKind::weights : ActionKind::backward;
  holding.bytes.assign(static_cast<std::size_t>(chunk_count(spec)), 0);
  for (const SavedTensor& tensor : tensors) {
    if (tensor.tag == tag && tensor.in_backward == in_backward) {
      holding.bytes.at(static_cast<std::size_t>(tensor.chunk)) += tensor.bytes();
    }
  }
  return holding;
}

}  // namespace

std::int64_t number_bytes(const CaseSpec& spec) {
  return spec.precision == Precision::fp64 ? 8 : 4;
}

std::int64_t RankMemory::of(std::string_view tag) const {
  return bytes.at(place_of_tag(tag));
}

std::int64_t RankMemory::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

RankMemory memory_of(const Layout& layout, int rank) {
  RankMemory memory = of_parameters(layout, rank);
  const std::vector<SavedTensor> tensors = saved_tensors(layout, rank);
  const auto stage = static_cast<std::size_t>(stage_of(layout.spec, rank));
  const ActionList actions = actions_due(layout.spec).at(stage);
  memory.bytes[place_of_tag("parameter")] *= peak_versions(actions);
  for (const std::string_view tag : {"activation_B", "activation_W"}) {
    memory.bytes[place_of_tag(tag)] =
        peak_held(actions, {holding_of(tensors, tag, false, layout.spec),
                            holding_of(tensors, tag, true, layout.spec)});
  }
  return memory;
}

std::int64_t left_of(std::string_view tag, const Layout& layout, int rank) {
  if (tag == "parameter") {
    return of_parameters(layout, rank).of(tag);
  }
  return tag.starts_with("activation") ? 0 : memory_of(layout, rank).of(tag);
}

}  // namespace meshparity::expect
