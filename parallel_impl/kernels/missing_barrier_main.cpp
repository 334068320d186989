// For a test: the attention's body on a team of threads, compiled with ThreadSanitizer. With the
// word "planted" the group's sync() is no barrier, and the sanitizer must find the lanes that read
// what others are still writing; without it, it must find nothing.
#include <cstdio>
#include <string_view>
#include <vector>

#include "parallel_impl/kernels/attention.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

/// A lane that goes on where it should wait for the others; its sums and maxima still meet them.
struct HastyLane {
  const LaneTeam::Lane& lane_of_team;
  int lane() const { return lane_of_team.lane(); }
  int size() const { return lane_of_team.size(); }
  void sync() const {}
  template <class T>
  T sum(T value) const {
    return lane_of_team.sum(value);
  }
  template <class T>
  T max(T value) const {
    return lane_of_team.max(value);
  }
};

template <class Kernel>
struct WithoutBarriers {
  Kernel kernel;

  int groups() const { return kernel.groups(); }
  void operator()(const LaneTeam::Lane& lane, int index) const { kernel(HastyLane{lane}, index); }
};

double run(bool planted) {
  const AttentionShape shape{1, 1, 1, 64, 6};
  const std::vector<double> x(64 * 6, 0.5);
  std::vector<double> probs(64 * 64);
  std::vector<double> context(64 * 6);
  AttentionForward<double> kernel{};
  kernel.q = kernel.k = kernel.v = x.data();
  kernel.probs = probs.data();
  kernel.context = context.data();
  kernel.shape = shape;
  kernel.scale = 0.5;
  if (planted) {
    LaneTeam(3).run(WithoutBarriers<AttentionForward<double>>{kernel});
  } else {
    LaneTeam(3).run(kernel);
  }
  return context.back();
}

}  // namespace
}  // namespace meshparity

int main(int argc, char** argv) {
  const bool planted = argc > 1 && std::string_view(argv[1]) == "planted";
  std::printf("context %g\n", meshparity::run(planted));
  return 0;
}
