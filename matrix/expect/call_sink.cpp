#include "matrix/expect/call_sink.hpp"

#include <fmt/format.h>

#include "fixtures/element_type.hpp"

namespace meshparity::expect {

void CallSink::add(const char* kind, const Group& group, const CallSite& site, std::int64_t count,
                   ElementType type) {
  if (group.size() <= 1) {
    return;
  }
  CollectiveRow row;
  row.sequence = static_cast<std::int64_t>(rows_.size()) + 1;
  row.site = site.layer < 0 ? fmt::format("{}/{}", site.role, site.phase)
                            : fmt::format("layer{}.{}/{}", site.layer, site.role, site.phase);
  row.kind = kind;
  row.axis = axes_that_cut(spec_, group.axes);
  row.group = group.text();
  row.count = count;
  row.type = element_type_name(type);
  row.bytes = count * static_cast<std::int64_t>(element_bytes(type));
  row.phase = site.phase;
  row.step = step_;
  row.mb = mb_;
  rows_.push_back(std::move(row));
}

}  // namespace meshparity::expect
