#include "matrix/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

/// Takes a number and returns what follows it; nothing is taken where there is none.
std::string_view take_number(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? text.substr(static_cast<std::size_t>(end - text.data())) : text;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard{0, 0};
  std::string_view rest = take_number(text, shard.number);
  if (rest.starts_with('/')) {
    rest = take_number(rest.substr(1), shard.count);
  }
  if (!rest.empty() || shard.number < 1 || shard.number > shard.count) {
    throw UsageError(fmt::format(
        "shard \"{}\" is none: give I/N, the I-th of N parts, I from 1 to N, as in 2/4", text));
  }
  return shard;
}

std::string format_shard(const Shard& shard) {
  return shard.is_whole() ? "" : fmt::format("{}/{}", shard.number, shard.count);
}

RunPlan own_part(const RunPlan& plan) {
  RunPlan own = plan;
  if (!plan.shard.empty()) {
    const Shard shard = parse_shard(plan.shard);
    own.cases = dealt(plan.cases, shard, 0);
    own.relations = dealt(plan.relations, shard, plan.cases.size());
  }
  return own;
}

}  // namespace meshparity
