// What is said of calls: why none are expected of a case, and one in a line.
#include <fmt/format.h>

#include "matrix/expect/calls.hpp"

namespace meshparity::expect {

std::optional<std::string> why_no_calls(const CaseSpec& spec) {
  const auto missing = [](const std::string& what) {
    return fmt::format("no expectation for {} yet", what);
  };
  for (const Axis axis : {Axis::cp, Axis::ep, Axis::etp}) {
    if (spec.mesh.degree(axis) > 1) {
      return missing(fmt::format("{}{}", axis_name(axis), spec.mesh.degree(axis)));
    }
  }
  for (const Event& event : spec.events) {
    if (event.kind != Event::Kind::probe && event.kind != Event::Kind::fault) {
      return missing("a run that is interrupted");
    }
  }
  return std::nullopt;
}

std::string call_text(const CollectiveRow& row) {
  return fmt::format("{} of {} {} at {} mb {} in {} group {}", row.kind, row.count, row.type,
                     row.site, row.mb, row.axis, row.group);
}

}  // namespace meshparity::expect
