#include "matrix/payload_noise.hpp"

#include <fmt/format.h>

#include "fixtures/error.hpp"

namespace meshparity {

std::filesystem::path payload_companions(const std::filesystem::path& own) {
  return own.parent_path() / "companions_gradcomm_bf16.h5";
}

Companion with_payload(Companion own, const Companion& payload, double factor) {
  if (own.s2.size() != payload.s2.size() || own.g.size() != payload.g.size()) {
    throw Error(fmt::format("companions of {}: {} variances of {} runs, {} of {} of its payload",
                            own.record, own.s2.size(), own.g.size(), payload.s2.size(),
                            payload.g.size()));
  }
  if (payload.total == 0) {
    return own;
  }
  const double scale = 1 / (factor * factor);
  for (std::size_t i = 0; i < own.s2.size(); ++i) {
    own.s2[i] = static_cast<float>(own.s2[i] + scale * payload.s2[i]);
  }
  const double added = scale * payload.total;
  const double total = own.total + added;
  const double products = (own.total == 0 ? 0 : own.total * own.total / own.effective) +
                          added * added / payload.effective;
  own.effective = total * total / products;
  own.total = total;
  for (std::size_t k = 0; k < own.g.size(); ++k) {
    own.g[k] += payload.g[k] / factor;
  }
  return own;
}

}  // namespace meshparity
