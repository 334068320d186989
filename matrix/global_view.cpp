#include "matrix/global_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fixtures/error.hpp"
#include "fixtures/hdf5_virtual.hpp"
#include "matrix/dump_set.hpp"

namespace meshparity {
namespace {

std::vector<std::int64_t> source_shape(const std::vector<Box>& boxes) {
  if (boxes.size() == 1) {
    return boxes.front().extent;
  }
  std::int64_t all = 0;
  for (const Box& box : boxes) {
    all += element_count(box);
  }
  return {all};
}

/// The whole reaches as far as its boxes.
void reach(std::vector<std::int64_t>& shape, const Box& box) {
  shape.resize(std::max(shape.size(), box.start.size()), 0);
  for (std::size_t dim = 0; dim < box.start.size(); ++dim) {
    shape[dim] = std::max(shape[dim], box.start[dim] + box.extent[dim]);
  }
}

/// Nothing where a piece is no box.
std::optional<h5::VirtualDataset> whole_of(const RecordKey& key,
                                           const std::vector<HeldPiece>& pieces) {
  h5::VirtualDataset whole;
  whole.path = fmt::format("/step{}/{}/{}", key.step, phase_name(key.phase), key.record);
  std::set<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> taken;
  for (const HeldPiece& held : pieces) {
    const auto* placement = std::get_if<BoxPlacement>(&held.piece->placement);
    if (placement == nullptr) {
      return std::nullopt;
    }
    whole.type = held.piece->type;
    std::int64_t first = 0;
    for (const Box& box : placement->boxes) {
      reach(whole.shape, box);
      if (taken.emplace(box.start, box.extent).second) {
        whole.parts.push_back({rank_file_name(held.rank), held.piece->path,
                               source_shape(placement->boxes), first, box.start, box.extent});
      }
      first += element_count(box);
    }
  }
  return whole;
}

}  // namespace

GlobalView write_global_view(const std::filesystem::path& dump) {
  if (!std::filesystem::is_directory(dump)) {
    throw UsageError(fmt::format("{} is no folder of a dump", dump.string()));
  }
  const DumpSet set(dump);
  require_readable(set);
  GlobalView view{dump / "global.h5", 0, {}};
  if (set.readers().empty()) {
    throw UsageError(fmt::format("{} has no {}", dump.string(), rank_file_name(0)));
  }
  if (std::filesystem::exists(view.file)) {
    throw UsageError(fmt::format("{} exists already: remove it first", view.file.string()));
  }
  const h5::Handle file = h5::create_virtual_file(view.file);
  for (const auto& [key, pieces] : set.records()) {
    if (const auto whole = whole_of(key, pieces)) {
      h5::write_virtual(file, *whole);
      ++view.records;
    } else {
      view.left_out.push_back(record_text(key));
    }
  }
  return view;
}

}  // namespace meshparity
