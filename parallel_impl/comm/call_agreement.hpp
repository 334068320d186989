// Whether calls that meet belong together, whatever the transport.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parallel_impl/comm/collective.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// One rank's call: its request and its line in the ledger; both outlive the call.
struct Entry {
  const Collective* request = nullptr;
  const CollectiveRow* row = nullptr;
};
/// The rank that calls.
int world_rank(const Entry& entry);

/// "rank 0 (tp0) entered ..., but rank 1 (tp1) is in ...: they differ in count"; empty when the two
/// are one collective.
std::string describe_difference(const WorldState& state, const Entry& mine, const Entry& other);
/// Of an all_to_all, all entries by index in the group: the first part whose sender and receiver do
/// not agree; empty when there is none.
std::string describe_unlike_parts(const WorldState& state, const Entry& mine,
                                  const std::vector<Entry>& all);
/// "rank 1 (tp1) is in receive ..., but rank 0 (tp0) sent ..."; empty when the message is the one
/// that is awaited. A layer may differ: what one stage sends after its last block is another's
/// first input.
std::string describe_wrong_message(const WorldState& state, const Entry& receive,
                                   const Entry& sent);

}  // namespace meshparity
