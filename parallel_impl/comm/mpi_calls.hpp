// MPI's error codes made exceptions.
#pragma once
#include <string_view>

namespace meshparity {

/// Throws Error with MPI's own words unless the code says success.
void check_mpi(int code, std::string_view doing);

}  // namespace meshparity
