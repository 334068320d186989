// The collectives that a rank must enter, in order, by matrix's own formulas (algorithms.md §1.8,
// §2, §3, §8, §11.1): what a ledger is held against. They depend on no data: number, order, groups
// and counts are known before the run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Why there is no expectation for a case, as "no expectation for pp2 yet"; nothing when there is.
std::optional<std::string> why_no_calls(const CaseSpec& spec);

/// Rows of a rank's ledger over all steps: sequence, site, kind, axis, group, count, type, bytes,
/// phase, step and micro-batch; clocks are 0. A group of one rank is never entered. They follow the
/// rank's list of actions (simulate.hpp). The variant counted (algorithms.md §2 and §11.1 leave a
/// choice):
///
/// * with sequence parallelism a rank keeps its rows only and gathers the inputs of column-parallel
///   linears and of the head again in the backward pass, where that is split for the gradients of
///   weights;
/// * the loss takes three sums of one number a token (maximum, target logit, sum of exponentials);
///   with smoothing the third is of two (the sum of logits beside it);
/// * a message is [rows, hidden] of the stream on this rank, in the group of the pipeline;
/// * gradients are summed over dp one bucket at a time, a parameter or bucket<k>, vocabulary
/// padding
///   included; zero1 scatters them once, zero2 and zero3 every micro-batch when a chunk's weight
///   gradients are complete; those that are a sum over tp in one call for key heads that several
///   ranks hold and one for the rest, of what the rank owns; with gradcomm_bf16 the sums over dp
///   travel in bfloat16; a tied weight's gradients of two
///   stages after division by the tokens, once both have been recorded;
/// * values are gathered after the update (zero1, zero2), or by piece before its forward pass and
///   its backward pass, one piece ahead (zero3);
/// * full recomputation repeats the sums of a block right before its backward pass;
/// * stages of a pipeline that is never flushed (the pipedream kinds) meet in messages only: each
///   counts the tokens of a step from its own raw inputs and sums them over dp alone, there is no
///   norm, and the losses of all steps, which only records need, are summed in one call after the
///   last step; a row has step and micro-batch of the records (DUMP_FORMAT.md §2), so several steps
///   are under way at a time;
/// * sums that may not depend on the layout (loss, clip norm) travel as integers of an exact sum;
///   a step that is skipped takes no clip norm and gathers no values;
/// * at level all, gradients of keys and values that several ranks share are summed once more, for
///   their records alone;
/// * a probe sums gradients, gathers values and does nothing else.
std::vector<CollectiveRow> calls_of(const Layout& layout, Level level, int rank);

/// "all_reduce of 480 float64 at layer1.mlp.down/forward mb 0 in tp group 0 1"
std::string call_text(const CollectiveRow& row);

}  // namespace meshparity::expect
