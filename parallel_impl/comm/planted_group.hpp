// Groups that a planted fault talks in instead of the right one. Every rank of such a group comes
// to the same one, so that no call waits for ever.
#pragma once
#include "parallel_impl/comm/collective.hpp"

namespace meshparity {

/// All ranks of the world, ascending.
CommGroup everyone_with(const CommGroup& group, int world);
/// The first or the second half of the group, whichever holds this rank; of 3 ranks 1 and 2.
CommGroup half_of(const CommGroup& group);
/// On a mesh with two wide axes, the ranks along the other one: of the groups 0 1 | 2 3 | 4 5 rank
/// 3 gets 1 3 5, of the groups 0 2 4 | 1 3 5 it gets 2 3.
CommGroup crosswise_to(const CommGroup& group, int world);
/// The same ranks in the order of their number modulo the group's size, as a ring through the world
/// would add them: 0 1 2 3 stays, 0 2 4 6 becomes 0 4 2 6.
CommGroup reordered(const CommGroup& group);

}  // namespace meshparity
