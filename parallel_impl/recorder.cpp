#include "parallel_impl/recorder.hpp"

#include <fmt/format.h>

#include <utility>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

std::string key_of(Phase phase, std::string_view name) {
  return fmt::format("{}/{}", phase_name(phase), name);
}

bool is_floating(ElementType type) {
  return type == ElementType::float64 || type == ElementType::float32;
}

void require_kind(const Piece& piece, bool floating) {
  if (is_floating(piece.type) != floating) {
    throw Error(fmt::format("recording {}: the table holds {}, but {} were given",
                            key_of(piece.phase, piece.record),
                            is_floating(piece.type) ? "floating-point values" : "integers",
                            floating ? "floating-point values" : "integers"));
  }
}

void require_count(const Piece& piece, std::size_t given) {
  const std::int64_t placed = element_count(piece.placement);
  if (placed != static_cast<std::int64_t>(given)) {
    throw Error(fmt::format("recording {}, step {}, micro-batch {}: {} values for a place of {}",
                            key_of(piece.phase, piece.record), piece.step, piece.mb, given,
                            placed));
  }
}

}  // namespace

Recorder::Recorder(const std::vector<RecordSpec>& table, Level level, std::string computed_in)
    : level_(level), computed_in_(std::move(computed_in)) {
  for (const RecordSpec& spec : table) {
    by_name_.emplace(key_of(spec.phase, spec.name), spec);
  }
}

const RecordSpec& Recorder::find(Phase phase, std::string_view name) const {
  const auto found = by_name_.find(key_of(phase, name));
  if (found == by_name_.end()) {
    throw Error(fmt::format("recording {}: the case's record table has no such record",
                            key_of(phase, name)));
  }
  return found->second;
}

bool Recorder::wants(Phase phase, std::string_view name) const {
  return find(phase, name).level <= level_;
}

Piece Recorder::describe(Phase phase, std::string_view name, PieceSite site) const {
  const RecordSpec& spec = find(phase, name);
  Piece piece;
  piece.record = spec.name;
  piece.order = spec.order;
  piece.step = site.step;
  piece.phase = phase;
  piece.mb = site.mb;
  piece.type = spec.type;
  piece.computed_in = computed_in_;
  piece.placement = std::move(site.placement);
  piece.shared_over = site.shared_over;
  return piece;
}

void Recorder::record(Phase phase, std::string_view name, PieceSite site,
                      std::span<const double> values) {
  Piece piece = describe(phase, name, std::move(site));
  require_kind(piece, true);
  require_count(piece, values.size());
  if (wants(phase, name)) {
    held_.push_back({std::move(piece), {values.begin(), values.end()}, {}});
  }
}

void Recorder::record(Phase phase, std::string_view name, PieceSite site,
                      std::span<const float> values) {
  Piece piece = describe(phase, name, std::move(site));
  require_kind(piece, true);
  require_count(piece, values.size());
  if (wants(phase, name)) {
    piece.type = ElementType::float32;
    held_.push_back({std::move(piece), {values.begin(), values.end()}, {}});
  }
}

void Recorder::record_integers(Phase phase, std::string_view name, PieceSite site,
                               std::span<const std::int64_t> values) {
  Piece piece = describe(phase, name, std::move(site));
  require_kind(piece, false);
  require_count(piece, values.size());
  if (wants(phase, name)) {
    held_.push_back({std::move(piece), {}, {values.begin(), values.end()}});
  }
}

void Recorder::record_local(const std::string& path, std::vector<std::int64_t> shape,
                            std::span<const double> values) {
  if (wants_local()) {
    local_.push_back({path, std::move(shape), {values.begin(), values.end()}});
  }
}

void Recorder::write(DumpWriter& writer) const {
  for (const Held& held : held_) {
    if (is_floating(held.piece.type)) {
      writer.write(held.piece, held.values);
    } else {
      writer.write_integers(held.piece, held.integers);
    }
  }
  for (const Local& local : local_) {
    writer.write_local(local.path, local.shape, local.values);
  }
}

}  // namespace meshparity
