// What a dump's header says of the program and the machine that made it.
#pragma once
#include <string>

namespace meshparity {

/// Compiler and flags that bits depend on.
std::string build_text();
/// The processor's name as the system gives it; libm's bits change with it. "unknown" where the
/// system does not say.
std::string cpu_name();
/// What holds in every run of this program, whatever the machine.
std::string determinism_text();

}  // namespace meshparity
