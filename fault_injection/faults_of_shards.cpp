// Faults of ZeRO and of masters: parts of buckets, their sums, their values.
#include "fault_injection/fault_lists.hpp"

namespace meshparity {

std::vector<NamedFault> faults_of_shards() {
  return {
      // Every part of a bucket but the first begins one element late.
      {.name = "part_one_late",
       .kind = "wrong shard",
       .role = "grad.dp",
       .phase = "grad",
       .acts_in = cases({"gpt-micro.dp2.zero1-steps1", "llama-micro.dp2.mb2-zero2-bucket1-steps1"}),
       .invisible_in = cases({"gpt-micro.dp2.steps1", "llama-micro.dp2.bucket1-steps1"}),
       .check = "grad",
       .record = "head.weight",
       .ranks = {1, 2, 3}},
      // What pads a bucket is not zero but 1, and is counted. A block of mixed-micro has one sink
      // on each
      // of 4 tensor ranks, an odd number of elements; all of llama-micro's are multiples of 4.
      {.name = "norm_counts_padding",
       .kind = "wrong shard",
       .role = "norm",
       .phase = "scalar",
       .acts_in = cases({"mixed-micro.dp2-tp4.zero3-steps1", "mixed-micro.dp4-tp4.zero1-steps1"}),
       .invisible_in =
           cases({"mixed-micro.dp2-tp4.zero3_param-steps1", "llama-micro.dp4.zero1-steps1"}),
       .check = "scalar",
       .record = "grad_norm"},
      // Parts of parameters that every tensor rank holds whole are counted by all of them.
      {.name = "part_norm_over_tp",
       .kind = "double reduction or counting",
       .role = "norm",
       .phase = "scalar",
       .acts_in =
           cases({"gpt-micro.dp2-tp2.zero1-steps1", "llama-micro.dp2-tp2.zero2_param-steps1"}),
       .invisible_in = cases({"gpt-micro.dp2.zero1-steps1", "gpt-micro.dp2-tp2.steps1"}),
       .check = "scalar",
       .record = "grad_norm"},
      // After the update each rank goes on with the new values of its own parts only.
      {.name = "values_not_refreshed",
       .kind = "missing reduction",
       .role = "param.dp",
       .phase = "update",
       .verb = CommVerb::skip,
       .whole_group = true,
       .acts_in = cases({"gpt-micro.dp2.zero1-steps1", "llama-micro.dp2-tp2.zero2_param-steps1"}),
       .invisible_in = cases({"gpt-micro.dp2.steps1", "gpt-micro.dp2.zero3-steps1"}),
       .check = "replicas",
       .record = "embed.weight",
       .ranks = {1, 2, 3}},
      // The last micro-batch's gradient is never sent to its owners.
      {.name = "last_scatter_left_out",
       .kind = "missing reduction",
       .role = "grad.dp",
       .phase = "grad",
       .acts_in = cases({"gpt-micro.dp2.mb2-zero2-steps1", "llama-micro.dp2.mb2-zero3-steps1"}),
       .invisible_in = cases({"gpt-micro.dp2.mb2-zero1-steps1"}),
       .check = "grad",
       .record = "head.weight"},
      // A sum over micro-batches is divided by their number each time that one is added.
      {.name = "mean_of_sums_so_far",
       .kind = "wrong scaling",
       .role = "grad.dp",
       .phase = "grad",
       .acts_in =
           cases({"gpt-micro.dp2.mb2-zero2-steps1", "llama-micro.dp2.mb2-zero3_param-steps1"}),
       .invisible_in = cases({"gpt-micro.dp2.zero2-steps1", "gpt-micro.dp2.mb2-zero1-steps1"}),
       .check = "grad",
       .record = "head.weight"},
      // Stage 3 goes on with the values that it gathered first.
      {.name = "stale_values",
       .kind = "missing reduction",
       .role = "param.dp",
       .phase = "forward",
       .acts_in = cases({"gpt-micro.dp2.zero3-steps2", "llama-micro.dp2-tp2.zero3_param-steps2"}),
       .invisible_in = cases({"gpt-micro.dp2.zero3-steps1", "gpt-micro.dp2.zero1-steps2"}),
       .check = "forward",
       .record = "layer0.in",
       .step = 1},
      // The update starts from the copy that computes: the master forgets what float32 rounds away.
      {.name = "copy_updated",
       .kind = "precision",
       .role = "master",
       .phase = "update",
       .acts_in = {"gpt-micro.dp2.zero1-master64-steps2.fp32.host-threads",
                   "llama-micro.single.master64-steps2.fp32.host-threads"},
       .invisible_in = {"gpt-micro.dp2.master64-steps1.fp32.host-threads",
                        "gpt-micro.dp2.steps2.fp32.host-threads"},
       .check = "step",
       .record = "embed.weight",
       .step = 1},
  };
}

}  // namespace meshparity
