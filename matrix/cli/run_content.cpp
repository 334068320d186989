#include "matrix/cli/run_content.hpp"

#include <fmt/format.h>

#include "fixtures/content_hash.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kDigits = 16;

// A program that is not there has no hash; starting it says what is wrong.
std::string hash_of(const std::filesystem::path& program) {
  return std::filesystem::is_regular_file(program) ? sha256_hex_of_file(program) : "none";
}

}  // namespace

RunContent::RunContent(const Programs& programs, const std::filesystem::path& driver, Level level,
                       bool second_runs)
    : code_(fmt::format("{} {} {} {}{}", hash_of(programs.reference), hash_of(programs.worker),
                        hash_of(driver), level_name(level), second_runs ? "" : " once")) {}

std::string RunContent::of(const PlannedCase& planned) const {
  return sha256_hex(fmt::format("{} {} {}", code_, planned.id, planned.model_file_hash))
      .substr(0, kDigits);
}

std::string RunContent::of(const PlannedRelation& planned) const {
  return sha256_hex(fmt::format("{} {} {} {} {}", code_, planned.relation->name, planned.first.id,
                                planned.partner.id, planned.first.model_file_hash))
      .substr(0, kDigits);
}

}  // namespace meshparity
