#include "parallel_impl/comm/mpi_calls.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>

#include "fixtures/error.hpp"

namespace meshparity {

void check_mpi(int code, std::string_view doing) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(fmt::format("{}: {}", doing, text.data()));
}

}  // namespace meshparity
