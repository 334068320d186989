#include "matrix/mpi_start.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "matrix/launch.hpp"
#include "matrix/this_machine.hpp"

namespace meshparity {
namespace {

constexpr const char* kHowToGetIt =
    "apt-get install libopenmpi-dev openmpi-bin, then configure and build again";

constexpr const char* kHowToBuildForGpus =
    "cmake --preset cuda && cmake --build --preset cuda, where the CUDA toolkit is (for cuda-mpi "
    "and "
    "cuda-nccl MPI and NCCL too)";
constexpr std::chrono::seconds kPatience{30};

std::filesystem::path beside(const std::filesystem::path& worker, const std::string& suffix) {
  return worker.parent_path() / (worker.filename().string() + suffix);
}

bool is_there(const std::filesystem::path& program) {
  std::error_code none;
  return std::filesystem::is_regular_file(program, none);
}

}  // namespace

std::string worker_suffix(Machine machine) {
  switch (machine) {
    case Machine::host_mpi:
      return "-mpi";
    case Machine::cuda_threads:
      return "-cuda";
    case Machine::cuda_mpi:
    case Machine::cuda_nccl:
      return "-cuda-mpi";
    default:
      return "";
  }
}

bool is_on_mpi(Machine machine) {
  return worker_suffix(machine).ends_with("-mpi");
}

bool is_on_gpu(Machine machine) {
  return worker_suffix(machine).starts_with("-cuda");
}

std::string why_not_started(Machine machine, const std::filesystem::path& worker) {
  if (is_on_mpi(machine) && program_on_path("mpirun").empty()) {
    return fmt::format("no mpirun on this machine: {}", kHowToGetIt);
  }
  const std::filesystem::path program = beside(worker, worker_suffix(machine));
  if (program != worker && !is_there(program)) {
    return is_on_gpu(machine) ? fmt::format("built without CUDA, {} is missing: {}",
                                            program.filename().string(), kHowToBuildForGpus)
                              : fmt::format("built without MPI, {} is missing: {}",
                                            program.filename().string(), kHowToGetIt);
  }
  if (!is_on_gpu(machine)) {
    return "";
  }
  const GpuAnswer gpus = ask_for_gpus(beside(worker, "-cuda"));
  return gpus.usable ? "" : gpus.said;
}

GpuAnswer ask_for_gpus(const std::filesystem::path& cuda_worker) {
  const std::filesystem::path log =
      std::filesystem::temp_directory_path() / fmt::format("meshparity-devices-{}.log", ::getpid());
  Launch launch({cuda_worker.string(), "--devices"}, log);
  std::string said;
  std::string line;
  while (launch.read_line(line, kPatience) == Launch::Read::line) {
    said = line;
  }
  const bool usable =
      launch.read_line(line, std::chrono::seconds(0)) == Launch::Read::end && launch.wait().clean();
  launch.kill();
  const std::string last = last_lines(log, 1);
  std::error_code none;
  std::filesystem::remove(log, none);
  return {usable, said.empty() ? fmt::format("{} does not say what GPUs there are: {}",
                                             cuda_worker.filename().string(), last)
                               : said};
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
