// How the cuBLAS that is none rounds an operand where it is asked for TF32. A function of its own
// source, so that a program can be linked with another rounding.
#pragma once

namespace meshparity {

/// A number of 11 significant bits with the exponents of float.
float fake_tf32(float value);

}  // namespace meshparity
