#include "matrix/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fixtures/error.hpp"
#include "matrix/lambda.hpp"

namespace meshparity {
namespace {

/// `samples` is K nu1, and 4 more where the block's sigma was shrunk towards a pool.
Limit limit_of(double nu1, double samples, std::int64_t blocks) {
  Limit limit;
  limit.nu1 = nu1;
  limit.nu2 = samples;
  limit.blocks = blocks;
  limit.z = deviate_for(blocks);
  limit.lambda = lambda(nu1, limit.nu2, limit.z).value_or(std::numeric_limits<double>::quiet_NaN());
  limit.value = kFreedom * limit.lambda;
  return limit;
}

}  // namespace

Lane lane_of(Precision precision) {
  const std::string name(precision_name(precision));
  switch (precision) {
    case Precision::fp64:
      // The reference errs as well as the candidate: sqrt 2 (bounds.md §3.1).
      return {name, "fp32", std::ldexp(std::numbers::sqrt2, -29),
              100,  52,     "fp32 companions x 2^-29 sqrt 2"};
    case Precision::fp32:
      return {name, name, 1, 10, 23, "fp32 companions"};
    case Precision::tf32:
      return {name, name, 1, 10, 10, "tf32 companions"};
    case Precision::bf16:
      return {name, name, 1, 10, 7, "bf16 companions"};
  }
  throw Error("looking up a lane: no such precision");
}

std::string derivation(const Limit& limit) {
  if (std::isnan(limit.value)) {
    return fmt::format("no limit: nu {:.3g}/{:.3g} is too little for z {:.2f}", limit.nu1,
                       limit.nu2, limit.z);
  }
  return fmt::format("S {:g} x Lambda {:.3g} (nu {:.3g}/{:.3g}, {} {}, z {:.2f})", kFreedom,
                     limit.lambda, limit.nu1, limit.nu2, limit.blocks,
                     limit.blocks == 1 ? "block" : "blocks", limit.z);
}

Limits limits_for(const Companion& companion, std::int64_t column_block) {
  const double k = companion.samples;
  const auto pooled = [&](double nu1, std::int64_t blocks) {
    return limit_of(nu1, k * nu1 + kPriorSamples, blocks);
  };
  const double effective = companion.effective;
  const std::int64_t column_blocks = companion.columns / column_block;
  Limits limits;
  limits.whole = limit_of(effective, k * effective, 1);
  limits.row =
      pooled(std::max(1.0, effective / static_cast<double>(companion.rows)), companion.rows);
  limits.column =
      pooled(std::max(1.0, effective / static_cast<double>(column_blocks)), column_blocks);
  limits.element = pooled(1, companion.rows * companion.columns);
  limits.projection = pooled(1, 1);
  return limits;
}

bool is_single(const Companion& companion) {
  return companion.rows == 1 && companion.columns == 1;
}

bool is_matrix(const Companion& companion) {
  return companion.rows > 1 && companion.columns > 1;
}

}  // namespace meshparity
