#include "parallel_impl/comm/process_comm.hpp"

#include <algorithm>

#include "parallel_impl/comm/exchange.hpp"
#include "parallel_impl/comm/process_meeting.hpp"

namespace meshparity {

ProcessComm::ProcessComm(ProcessWorld& world, int rank, Completion when)
    : Comm(world.launch()),
      world_(world),
      rank_(rank),
      messages_(world, rank),
      pending_(when, [this](const Collective& request, const CollectiveRow& row) {
        move(request, row);
      }) {}

void ProcessComm::move(const Collective& request, const CollectiveRow& row) {
  world_.state().say(rank_, row);
  if (request.kind == CollectiveKind::send) {
    messages_.put(request, row);
  } else if (request.kind == CollectiveKind::receive) {
    messages_.take(request, row);
  } else {
    meet(request, row);
  }
}

// Nobody reads before all have shown, and nobody shows another call before all have read. The sum
// of an all_reduce lies with the group's first rank, which stays until all have copied it.
void ProcessComm::meet(const Collective& request, const CollectiveRow& row) {
  std::vector<int> ranks = request.group.ranks;
  std::sort(ranks.begin(), ranks.end());
  ProcessMeeting meeting(world_, {&request, &row}, ++calls_, ++calls_of_group_[ranks]);
  meeting.enter();
  read_from(request, meeting.shown(), meeting.sum());
  if (request.kind == CollectiveKind::all_reduce) {
    meeting.reach(ProcessLine::summed);
    copy_elements({meeting.sum(), request.input.count, request.input.type}, 0, request.output, 0,
                  request.output.count);
  }
  meeting.reach(ProcessLine::read);
}

}  // namespace meshparity
