#include "parallel_impl/comm/patient_wait.hpp"

#include <fmt/format.h>

#include <string_view>

namespace meshparity {

std::string describe_wait(const WorldState& state, int rank, const CollectiveRow& row,
                          const std::vector<int>& missing, WaitEnd end) {
  const bool ended = end == WaitEnd::peer_ended;
  std::string text = fmt::format("{} waits in {} for ", state.name(rank), describe_call(row));
  std::string_view joint;
  for (const int absent : missing) {
    if (!ended || state.has_ended(absent)) {
      text += joint;
      text += state.last_said(absent);
      joint = "; ";
    }
  }
  return text + (ended ? ", and has ended"
                       : fmt::format(", and nothing moved for {} ms", state.limit().count()));
}

}  // namespace meshparity
