// Which findings are the consequence of an earlier one.
#pragma once
#include "matrix/verdict.hpp"

namespace meshparity {

/// Marks every finding about a record that lies behind the first divergent one in the computation:
/// in a later step (unless that began with the candidate's own state), in a later stage of the same
/// step (forward and loss, backward, gradients, scalars, update), or later in the same forward or
/// backward pass. Gradients do not follow from other gradients, nor updates from updates of other
/// tensors; the breach of a law follows from nothing but a finding about the same record.
void mark_followers(CaseReport& report);

}  // namespace meshparity
