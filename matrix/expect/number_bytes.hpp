// The width of a case's numbers.
#pragma once
#include <cstdint>

#include "fixtures/case_spec.hpp"

namespace meshparity::expect {

/// 8 or 4, of bf16 too, whose numbers are held as floats; of activations, parameters and gradients.
/// Masters have a width of their own.
std::int64_t number_bytes(const CaseSpec& spec);

}  // namespace meshparity::expect
