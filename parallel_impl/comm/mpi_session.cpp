#include "parallel_impl/comm/mpi_session.hpp"

#include <mpi.h>

#include <cstdlib>

#include "parallel_impl/comm/mpi_calls.hpp"

namespace meshparity {

MpiSession::MpiSession() {
  check_mpi(MPI_Init(nullptr, nullptr), "starting MPI");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "asking for error codes");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "asking for this process's rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "asking for the number of processes");
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

std::int64_t MpiSession::sum(std::int64_t value) const {
  std::int64_t total = 0;
  check_mpi(MPI_Allreduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD),
            "adding a number of every process");
  return total;
}

std::string MpiSession::text_of(int root, const std::string& text) const {
  auto size = static_cast<std::int64_t>(text.size());
  check_mpi(MPI_Bcast(&size, 1, MPI_INT64_T, root, MPI_COMM_WORLD), "telling a text's size");
  std::string told = text;
  told.resize(static_cast<std::size_t>(size));
  check_mpi(MPI_Bcast(told.data(), static_cast<int>(size), MPI_CHAR, root, MPI_COMM_WORLD),
            "telling a text");
  return told;
}

void MpiSession::abort(int exit_code) const {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort does not return
}

}  // namespace meshparity
