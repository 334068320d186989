// meshparity-float-run: the reference's formulas as a candidate of a lane, to try limits with.
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "reference/float_run.hpp"

int main(int argc, char** argv) {
  if (argc != 6 || std::atoi(argv[4]) < 1 || std::atoi(argv[5]) < 0) {
    fmt::print(stderr,
               "meshparity-float-run CASE MODELS OUT PARTS SEED: PARTS is 1 or more, SEED 0 or "
               "more (0: no permutation)\n");
    return 2;
  }
  try {
    meshparity::Job job;
    job.case_id = argv[1];
    job.models = argv[2];
    job.out = argv[3];
    std::filesystem::create_directories(job.out);
    meshparity::reference::write_float_run(
        job, {std::atoi(argv[4]), static_cast<std::uint64_t>(std::atoi(argv[5]))});
  } catch (const std::exception& failure) {
    fmt::print(stderr, "meshparity-float-run: {}\n", failure.what());
    return 2;
  }
}
