// Which program runs the cases of a machine, how it is started, and what this machine needs for it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity {

/// Why cases of this kind cannot be started here, with what to do about it; empty when they can.
/// For a machine with GPUs it starts a program that looks for them.
std::string why_not_started(Machine machine, const std::filesystem::path& worker);

/// What the name of the machine's own worker has more than that of the host's: "", "-mpi", "-cuda",
/// "-cuda-mpi". It lies beside the other, built where there is what it needs.
std::string worker_suffix(Machine machine);
/// Whether the ranks are processes that mpirun starts.
bool is_on_mpi(Machine machine);
bool is_on_gpu(Machine machine);
/// mpirun and its options, to stand before a program that so many ranks run. More ranks than cores
/// are no mistake here.
std::vector<std::string> mpi_starter(int ranks);

struct GpuAnswer {
  bool usable = false;
  std::string said;  // which GPUs, or why there is none to use
};
/// What the worker for GPUs, which must be there, says of this machine.
GpuAnswer ask_for_gpus(const std::filesystem::path& cuda_worker);

}  // namespace meshparity
