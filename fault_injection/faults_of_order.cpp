// Another order: of an update, of parts, of the terms of a sum.
#include "fault_injection/fault_lists.hpp"

namespace meshparity {

std::vector<NamedFault> faults_of_order() {
  return {
      // AdamW's epsilon is added before the second moment's bias is corrected: right for large t,
      // wrong at first. Every rank does the same; only the update's own law tells, at each step
      // anew.
      {.name = "epsilon_before_correction",
       .kind = "order",
       .role = "optimizer",
       .phase = "update",
       .acts_in = cases({"gpt-micro.single.plain", "gpt-micro.dp2-tp2.steps1"}),
       .invisible_in = cases({"gpt-micro.single.sgd-steps1", "gpt-micro.dp2.momentum-steps1"}),
       .check = "step",
       .record = "embed.weight"},
      // Decay after the step instead of before: 1e-8 of a parameter.
      {.name = "decay_after_update",
       .kind = "order",
       .role = "optimizer",
       .phase = "update",
       .acts_in = cases({"gpt-micro.single.steps1", "llama-micro.dp2-tp2.steps1"}),
       .invisible_in = cases({"gpt-micro.single.sgd-steps1"}),
       .check = "step",
       .record = "embed.weight"},
      // Decay goes through the moments, as L2 regularisation would.
      {.name = "decay_in_gradient",
       .kind = "order",
       .role = "optimizer",
       .phase = "update",
       .acts_in = cases({"gpt-micro.single.steps1", "llama-micro.tp2.steps1"}),
       .invisible_in = cases({"gpt-micro.single.sgd-steps1"}),
       .check = "step",
       .record = "embed.weight"},
      // Two gradients of one size arrive in another order on one replica, and are summed with each
      // other (B52).
      {.name = "norm_grads_swapped",
       .kind = "order",
       .role = "grad.dp",
       .phase = "grad",
       .where = "r1",
       .acts_in = cases({"gpt-micro.dp2.steps1", "gpt-micro.dp4.steps1"}),
       .invisible_in = cases({"llama-micro.dp2.steps1", "llama-micro.tp2.steps1"}),
       .check = "grad",
       .record = "layer0.norm1.bias"},
      // Deferred gradients of weights of two micro-batches take each other's turns: a + b is b + a,
      // so no value tells.
      {.name = "weights_swapped",
       .kind = "order",
       .role = "schedule",
       .phase = "backward",
       .acts_in = cases({"gpt-micro.pp2.zbh1-mb4-steps1", "llama-micro.pp2.zbh2-mb4-steps1"}),
       .invisible_in = cases({"gpt-micro.pp2.1f1b-mb4-steps1", "gpt-micro.single.mb4-steps1"}),
       .check = "schedule",
       .ranks = {1}},
      // Two backward passes take each other's turns on all stages, and so do their messages.
      {.name = "backwards_swapped",
       .kind = "order",
       .role = "schedule",
       .phase = "backward",
       .acts_in = cases({"gpt-micro.pp2.gpipe-mb2-steps1", "mixed-micro.pp4.gpipe-mb4-steps1"}),
       .invisible_in = cases({"gpt-micro.pp2.1f1b-mb2-steps1"}),
       .check = "collectives"},
      // Gathered rows come in the reverse order of the ranks (B38).
      {.name = "permute_row_gather",
       .kind = "order",
       .role = "attn.qkv",
       .phase = "forward",
       .verb = CommVerb::permute,
       .acts_in = cases({"gpt-micro.tp2.sp-steps1", "llama-micro.dp2-tp2.sp-steps1"}),
       .invisible_in = cases({"gpt-micro.tp2.steps1"}),
       .check = "forward",
       .record = "layer0.attn.context"},
      // The same before the head: every record of the blocks is right.
      {.name = "permute_head_gather",
       .kind = "order",
       .role = "head",
       .phase = "forward",
       .verb = CommVerb::permute,
       .acts_in = cases({"gpt-micro.tp2.sp-steps1", "llama-micro.dp2-tp2.sp-steps1"}),
       .invisible_in = cases({"gpt-micro.tp2.steps1", "llama-micro.dp2.steps1"}),
       .check = "logits",
       .record = "logits"},
      // Rows are scattered in the reverse order of the ranks (B40).
      {.name = "permute_row_scatter",
       .kind = "order",
       .role = "mlp.down",
       .phase = "forward",
       .verb = CommVerb::permute,
       .acts_in = cases({"gpt-micro.tp2.sp-steps1"}),
       .invisible_in = cases({"gpt-micro.tp2.steps1", "gpt-micro.dp2.steps1"}),
       .check = "forward",
       .record = "layer0.out"},
      // Some ranks enter a sum later than others. No value may move.
      {.name = "delay_row_sum",
       .kind = "harmless",
       .role = "mlp.down",
       .phase = "forward",
       .verb = CommVerb::delay,
       .invisible_in = cases({"gpt-micro.tp2.steps1", "llama-micro.dp2-tp2.steps1"})},
      // A sum over tensor ranks runs in an order that follows from their numbers in the world.
      {.name = "row_sum_by_rank_number",
       .kind = "order of a sum",
       .role = "attn.out",
       .phase = "forward",
       .verb = CommVerb::reorder,
       .whole_group = true,
       .invisible_in = cases({"gpt-micro.dp2-tp4.steps1", "llama-micro.dp2-tp4.steps1"}),
       .relation = "rank_order",
       .related_record = "layer0.attn.out",
       .related = cases({"gpt-micro.dp2-tp4.steps1", "llama-micro.dp2-tp4.steps1"})},
      // The clip norm is a plain sum of doubles over the ranks, in the order of their numbers. The
      // root
      // hides two thirds of the differences, so the case has steps enough for several to remain.
      {.name = "norm_of_plain_sums",
       .kind = "order of a sum",
       .role = "norm",
       .phase = "scalar",
       .invisible_in = cases({"llama-micro.dp2-tp4.steps12"}),
       .relation = "rank_order",
       .related_record = "grad_norm",
       .related = cases({"llama-micro.dp2-tp4.steps12"})},
      // Both uses of a tied weight are added in one buffer where rows are cut.
      {.name = "tied_grads_in_one_buffer",
       .kind = "order of a sum",
       .role = "grad",
       .phase = "grad",
       .acts_in = cases({"gpt-micro.tp2.sp-steps1", "mixed-micro.tp2.sp-steps1"}),
       .invisible_in = cases({"gpt-micro.tp2.steps1", "llama-micro.tp2.sp-steps1"}),
       .check = "grad",
       .record = "head.weight",
       .relation = "sp",
       .related_record = "head.weight",
       .related = cases({"gpt-micro.tp2.sp-steps1"})},
      // The gradient of a weight is added row by row onto the sum over micro-batches where rows are
      // cut.
      {.name = "weight_grad_onto_running_sum",
       .kind = "order of a sum",
       .role = "grad",
       .phase = "grad",
       .invisible_in = cases({"gpt-micro.tp2.sp-mb2-steps1", "llama-micro.tp2.sp-mb2-steps1"}),
       .relation = "sp",
       .related_record = "layer0.mlp.down.weight",
       .related = cases({"gpt-micro.tp2.sp-mb2-steps1"})},
      // A product of few columns sums its depth in two halves.
      {.name = "narrow_product_in_halves",
       .kind = "order of a sum",
       .role = "attn.qkv",
       .phase = "forward",
       .invisible_in = cases({"gpt-micro.tp2.steps1", "llama-micro.tp4.steps1"}),
       .relation = "tp1",
       .related_record = "layer0.attn.q",
       .related = cases({"gpt-micro.tp2.steps1"})},
  };
}

}  // namespace meshparity
