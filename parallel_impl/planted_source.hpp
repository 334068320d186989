// Planted faults of the way from global values to a rank's slice: columns or rows that change sides
// at a border between ranks, a slice that begins one element too early, a neighbour's key head, two
// matrices cut as if they were one.
#pragma once
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

/// The source itself, unless a fault is planted that changes what is read from it.
ParamSource planted_source(ParamSource source, const RankContext& context);

}  // namespace meshparity
