#include <fmt/format.h>

#include <algorithm>

#include "fixtures/error.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/text_source.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/mpi_start.hpp"
#include "matrix/this_machine.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

std::string first_that_exists(const std::vector<fs::path>& places) {
  const auto found = std::find_if(places.begin(), places.end(), [](const fs::path& place) {
    std::error_code none;
    return fs::exists(place, none);
  });
  return found == places.end() ? "" : found->string();
}

std::string library(const std::string& file) {
  return first_that_exists({fs::path("/usr/lib/x86_64-linux-gnu") / file,
                            fs::path("/usr/lib/aarch64-linux-gnu") / file,
                            fs::path("/usr/local/cuda/lib64") / file, fs::path("/usr/lib") / file,
                            fs::path("/usr/local/lib") / file});
}

std::string python_module(const std::string& name) {
  return first_that_exists({fs::path("/usr/lib/python3/dist-packages") / name});
}

void say(std::string_view what, std::string_view state) {
  fmt::print("{:<14} {}\n", what, state);
}

std::string found_or(const std::string& found, std::string_view how_to_get_it) {
  return found.empty() ? fmt::format("missing: {}", how_to_get_it)
                       : fmt::format("found: {}", found);
}

bool say_programs() {
  const Programs programs = programs_beside();
  const bool both = fs::exists(programs.reference) && fs::exists(programs.worker);
  for (const fs::path& program : {programs.reference, programs.worker}) {
    if (!fs::exists(program)) {
      say("host-threads", fmt::format("no: {} is missing; build the target {}", program.string(),
                                      program.filename().string()));
    }
  }
  if (both) {
    say("host-threads", "yes: ranks are threads of one process");
  }
  return both;
}

void say_gpu_machine(Machine machine, std::string_view yes) {
  const std::string why = why_not_started(machine, programs_beside().worker);
  say(machine_name(machine), why.empty() ? std::string(yes) : "no: " + why);
}

void say_machines(bool can_run) {
  const std::string mpi = why_not_started(Machine::host_mpi, programs_beside().worker);
  say("host-procs", can_run ? "yes: ranks are processes of this machine" : "no, as host-threads");
  say("host-mpi", mpi.empty() ? "yes: ranks are processes that mpirun starts" : "no: " + mpi);
  say("  mpirun",
      found_or(program_on_path("mpirun"), "apt-get install openmpi-bin libopenmpi-dev"));
  say_gpu_machine(Machine::cuda_threads, "yes: ranks are threads that compute on GPUs");
  say("  GPU", found_or(first_that_exists({"/dev/nvidia0", "/dev/dxg"}),
                        "no device /dev/nvidia0; a GPU and its driver"));
  say("  nvcc", found_or(program_on_path("nvcc"), "the CUDA Toolkit"));
  say("  cublas", found_or(library("libcublas.so"), "the CUDA Toolkit"));
  say("  sanitizer", found_or(program_on_path("compute-sanitizer"),
                              "the CUDA Toolkit; ci/gpu leaves two of its parts out"));
  say_gpu_machine(Machine::cuda_mpi, "yes: ranks are processes that compute on GPUs");
  say_gpu_machine(Machine::cuda_nccl, "yes: ranks are processes, one a GPU");
  say("  nccl", found_or(library("libnccl.so.2"), "libnccl2 and libnccl-dev, from NVIDIA"));
}

void say_text(const CaseOptions& options) {
  try {
    const TextSource text = find_text(options.text, options.cache);
    say("text data", fmt::format("text_{}: {}", text.hash8, text.file.string()));
  } catch (const UsageError& refusal) {
    say("text data", fmt::format("missing: {}", refusal.what()));
  }
}

}  // namespace

int doctor(const CaseOptions& options) {
  const bool can_run = say_programs();
  say_machines(can_run);
  say("CPU", fmt::format("{}, {} cores", cpu_model(), core_count()));
  say("compiler", compiler());
  say("HDF5", MESHPARITY_HDF5_VERSION);
  say("tree", tree_state(source_folder()));
  say_text(options);
  say("h5py", found_or(python_module("h5py"), "apt-get install python3-h5py (foreign dumps)"));
  say("torch", found_or(python_module("torch"), "apt-get install python3-torch (golden numbers)"));
  return can_run ? kExitConforms : kExitInconclusive;
}

}  // namespace meshparity
