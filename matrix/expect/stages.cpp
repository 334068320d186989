#include "matrix/expect/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity::expect {
namespace {

int stages(const CaseSpec& spec) {
  return spec.mesh.degree(Axis::pp);
}

/// Pieces of a chunk, however many come before it.
int size_of_chunk(const Layout& layout, int chunk) {
  const CaseSpec& spec = layout.spec;
  if (spec.split.empty()) {
    const int all = chunk_count(spec);
    return static_cast<int>(share_of(piece_count(layout.model), all, chunk).count);
  }
  const int stage = stage_of_chunk(spec, chunk);
  const std::vector<int> siblings = chunks_of_stage(spec, stage);
  const auto place = std::find(siblings.begin(), siblings.end(), chunk) - siblings.begin();
  return static_cast<int>(share_of(spec.split.at(static_cast<std::size_t>(stage)),
                                   static_cast<int>(siblings.size()), static_cast<int>(place))
                              .count);
}

}  // namespace

int piece_count(const ModelSpec& model) {
  return model.layers + 2;
}

int piece_named(std::string_view name, const ModelSpec& model) {
  constexpr std::string_view kLayer = "layer";
  int layer = 0;
  const bool is_block =
      name.starts_with(kLayer) &&
      std::from_chars(name.data() + kLayer.size(), name.data() + name.size(), layer).ec ==
          std::errc();
  if (is_block) {
    return layer + 1;
  }
  return name.starts_with("embed") ? 0 : piece_count(model) - 1;
}

int chunks_per_stage(const CaseSpec& spec) {
  if (spec.schedule == Schedule::interleaved) {
    return spec.virtual_chunks;
  }
  return spec.schedule == Schedule::zbv ? 2 : 1;
}

int chunk_count(const CaseSpec& spec) {
  return stages(spec) * chunks_per_stage(spec);
}

int stage_of_chunk(const CaseSpec& spec, int chunk) {
  const int p = stages(spec);
  const bool comes_back = spec.schedule == Schedule::zbv && chunk >= p;
  return comes_back ? 2 * p - 1 - chunk : chunk % p;
}

std::vector<int> chunks_of_stage(const CaseSpec& spec, int stage) {
  std::vector<int> chunks;
  for (int chunk = 0; chunk < chunk_count(spec); ++chunk) {
    if (stage_of_chunk(spec, chunk) == stage) {
      chunks.push_back(chunk);
    }
  }
  return chunks;
}

Pieces pieces_of_chunk(const Layout& layout, int chunk) {
  Pieces pieces;
  for (int earlier = 0; earlier < chunk; ++earlier) {
    pieces.first += size_of_chunk(layout, earlier);
  }
  pieces.count = size_of_chunk(layout, chunk);
  return pieces;
}

std::vector<int> pieces_of_stage(const Layout& layout, int stage) {
  std::vector<int> all;
  for (const int chunk : chunks_of_stage(layout.spec, stage)) {
    const Pieces pieces = pieces_of_chunk(layout, chunk);
    for (int piece = pieces.first; piece < pieces.end(); ++piece) {
      all.push_back(piece);
    }
  }
  return all;
}

int chunk_of_piece(const Layout& layout, int piece) {
  for (int chunk = 0; chunk < chunk_count(layout.spec); ++chunk) {
    if (pieces_of_chunk(layout, chunk).holds(piece)) {
      return chunk;
    }
  }
  throw Error(fmt::format("expecting the chunk of piece {}: the model has {} pieces", piece,
                          piece_count(layout.model)));
}

int stage_of_piece(const Layout& layout, int piece) {
  return stage_of_chunk(layout.spec, chunk_of_piece(layout, piece));
}

int stage_of(const CaseSpec& spec, int rank) {
  return coordinate_on(spec, rank, Axis::pp);
}

bool holds_piece(const Layout& layout, int rank, int piece) {
  return stage_of_piece(layout, piece) == stage_of(layout.spec, rank);
}

}  // namespace meshparity::expect
