// Cases on MPI: what this machine needs for them, and the words that start their worker.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity {

/// Why cases of this kind cannot be started here, with what to do about it; empty when they can.
std::string why_not_started(Machine machine, const std::filesystem::path& worker);

/// The worker of MPI cases: beside the other, built where there is an MPI.
std::filesystem::path mpi_worker(const std::filesystem::path& worker);
/// mpirun and its options, to stand before a program that so many ranks run. More ranks than cores
/// are no mistake here.
std::vector<std::string> mpi_starter(int ranks);

}  // namespace meshparity
