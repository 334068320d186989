#include "matrix/mpi_start.hpp"

#include <fmt/format.h>

#include "matrix/this_machine.hpp"

namespace meshparity {
namespace {

constexpr const char* kHowToGetIt =
    "apt-get install libopenmpi-dev openmpi-bin, then configure and build again";

}  // namespace

std::string why_not_started(Machine machine, const std::filesystem::path& worker) {
  if (machine != Machine::host_mpi) {
    return "";
  }
  if (program_on_path("mpirun").empty()) {
    return fmt::format("no mpirun on this machine: {}", kHowToGetIt);
  }
  std::error_code none;
  return std::filesystem::is_regular_file(mpi_worker(worker), none)
             ? ""
             : fmt::format("built without MPI, {} is missing: {}",
                           mpi_worker(worker).filename().string(), kHowToGetIt);
}

std::filesystem::path mpi_worker(const std::filesystem::path& worker) {
  return worker.parent_path() / (worker.filename().string() + "-mpi");
}

std::vector<std::string> mpi_starter(int ranks) {
  return {program_on_path("mpirun"),
          "-q",
          "--oversubscribe",
          "--allow-run-as-root",
          "--bind-to",
          "none",
          "-np",
          std::to_string(ranks)};
}

}  // namespace meshparity
