// Other versions of the weights than a pipeline that is never flushed should use. The ledger of
// actions lists what was meant, so but for a wrong rule the numbers alone tell.
#include "fault_injection/fault_lists.hpp"

namespace meshparity {

std::vector<NamedFault> faults_of_versions() {
  return {
      // The backward pass does not go back to the weights of its forward pass. (An embedding has
      // no need of weights on its way back.)
      {.name = "backward_with_newest_weights",
       .kind = "stale weights",
       .role = "stash",
       .phase = "backward",
       .acts_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                         "llama-micro.tp2-pp2.sp-pipedream-mb4-clip_off-maskfull-steps1"}),
       .invisible_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-split1_2-steps1",
                              "llama-micro.pp2.1f1b-mb4-steps1"}),
       .check = "backward",
       .record = "layer0.attn.out",
       .step = 1,
       .ranks = {0, 1}},
      // A forward pass takes what there is: right without vertical sync, and on the first stage.
      {.name = "forward_with_newest_weights",
       .kind = "stale weights",
       .role = "stash",
       .phase = "forward",
       .acts_in =
           cases({"llama-micro.pp2.pipedream_vsync-mb4-clip_off-maskfull-split1_2-steps1",
                  "llama-micro.tp2-pp2.pipedream_vsync-mb4-clip_off-maskfull-split1_2-steps1"}),
       .invisible_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                              "llama-micro.pp2.pipedream_2bw-mb2-clip_off-steps1"}),
       .check = "forward",
       .record = "layer0.attn.context",
       .step = 1,
       .ranks = {1, 2, 3}},
      // All stages agree on a version, and it is one too old.
      {.name = "vsync_version_off_by_one",
       .kind = "stale weights",
       .role = "schedule",
       .phase = "forward",
       .acts_in = cases({"llama-micro.pp2.pipedream_vsync-mb4-clip_off-maskfull-steps1",
                         "llama-micro.tp2-pp2.pipedream_vsync-mb4-clip_off-maskfull-steps1"}),
       .invisible_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                              "llama-micro.pp2.1f1b-mb4-steps1"}),
       .check = "forward",
       .record = "layer0.in",
       .step = 2},
      // The oldest version is given up an update too soon, and what is read is the next.
      {.name = "stash_too_short",
       .kind = "stale weights",
       .role = "stash",
       .phase = "update",
       .acts_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                         "llama-micro.tp2-pp2.sp-pipedream-mb4-clip_off-maskfull-steps1"}),
       .invisible_in = cases({"llama-micro.pp2.pipedream_2bw-mb2-clip_off-steps1",
                              "llama-micro.pp2.1f1b-mb4-steps1"}),
       .check = "backward",
       .record = "layer0.attn.out",
       .step = 1,
       .ranks = {0, 1}},
      // The update starts from the weights that the gradient belongs to, and what was learned since
      // is lost. Where there are masters these are updated.
      {.name = "update_of_stale_weights",
       .kind = "stale weights",
       .role = "stash",
       .phase = "update",
       .acts_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                         "llama-micro.tp2-pp2.sp-pipedream-mb4-clip_off-maskfull-steps1"}),
       .invisible_in = {"llama-micro.pp2.pipedream_2bw-mb2-clip_off-master64.fp32.host-threads",
                        "llama-micro.pp2.1f1b-mb4-steps1.fp64.host-threads"},
       .check = "step",
       .record = "embed.weight",
       .step = 1,
       .ranks = {0, 1}},
      // Old weights are never let go: no value tells, the allocator's counters do.
      {.name = "old_versions_kept",
       .kind = "stale weights",
       .role = "stash",
       .phase = "update",
       .acts_in = cases({"llama-micro.pp2.pipedream-mb4-clip_off-maskfull-steps1",
                         "llama-micro.tp2-pp2.sp-pipedream-mb4-clip_off-maskfull-steps1"}),
       .invisible_in = cases({"llama-micro.pp2.pipedream_2bw-mb2-clip_off-steps1",
                              "llama-micro.pp2.1f1b-mb4-steps1"}),
       .check = "memory",
       .step = -1,
       .ranks = {0, 1}},
  };
}

}  // namespace meshparity
