// Laws of a step's single numbers: the clip norm, the clip coefficient, the loss.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reference/laws/law.hpp"
#include "reference/loss_shares.hpp"

namespace meshparity::reference {

/// Square root of the sum of squares over all distinct elements; a tied weight's two gradients are
/// added first. By contract squares are rounded once and added without rounding, or in FP64: 4 u.
Demand clip_norm(std::span<const std::vector<Wide>> distinct_gradients, const StepType& type);
std::string clip_norm_derivation(const StepType& type);

/// min(1, limit / (norm + 1e-6)) from the candidate's own norm: a sum, a quotient and a cast, 3 u.
/// Without a limit exactly 1. Both branches are within the limit where they meet.
Demand clip_coefficient(std::optional<double> limit, double norm, const StepType& type);
std::string clip_coefficient_derivation(const StepType& type);

/// The mean of the weighted token losses over all tokens, 0 without any; by contract added without
/// rounding, or in FP64: 4 u. A mean of G means has a quotient more for each and G additions more.
Demand loss_sum(std::span<const double> token_losses, const LossShares& shares,
                const StepType& type);
std::string loss_sum_derivation(const StepType& type);

}  // namespace meshparity::reference
