// A probe (contracts.md §1): parameters, gradients and moments show where they lie. Each element is
// given its own index and takes the ordinary ways of initialising, cutting, summing and recording;
// nothing is learned. What comes out at another place, or more often than once a contribution, is a
// gap in one of these ways.
#pragma once
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

/// Step s shows digit s of an element's row-major index over its global shape, in base 65,536, so
/// that every sum of up to 256 contributions is exact in float32 too: 65,535 x 256 < 2^24. One step
/// tells all elements of a tensor apart if it has at most 65,536.
ParamSource index_source(int step);

/// Every rank contributes the digit to each gradient, once: after the sums over dp and tp an
/// element holds it as often as there are contributions to it. Values that ZeRO cuts are gathered
/// before and after. No optimizer step is taken.
template <class T>
void probe_in(const RankContext& context);

}  // namespace meshparity
