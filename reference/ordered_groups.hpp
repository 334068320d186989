// Work in groups on several threads whose sums are added in the order of the groups, so that the
// same bits come from any number of threads.
#pragma once
#include <functional>

namespace meshparity::reference {

/// Calls work(thread, group) for each group 0 ... groups-1, several at a time, and after it
/// add(thread, group), one at a time and in ascending order of groups. The first exception is
/// thrown again here, after all threads have ended.
void run_groups(int groups, int threads, const std::function<void(int thread, int group)>& work,
                const std::function<void(int thread, int group)>& add);

}  // namespace meshparity::reference
