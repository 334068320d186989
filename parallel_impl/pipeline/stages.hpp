// Which part of the model each stage of a pipeline holds (algorithms.md §3.1). Pieces are the
// embedding, the blocks, and the head with the last norm; a chunk is a run of pieces.
#pragma once
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/model/parameters.hpp"

namespace meshparity {

/// Pieces [first, first + count): 0 is the embedding, 1 to L are blocks, L + 1 is the head.
struct PieceRange {
  int first = 0;
  int count = 0;
  bool holds(int piece) const { return piece >= first && piece < first + count; }
  bool operator==(const PieceRange&) const = default;
};

/// A model cut into chunks: chunk g follows chunk g - 1 in the model.
class Stages {
 public:
  Stages(const CaseSpec& spec, const ModelSpec& model);

  int count() const { return stages_; }
  int chunks() const { return static_cast<int>(chunks_.size()); }
  /// g mod p, or with the V shape of zbv up and down again.
  int stage_of(int chunk) const;
  const PieceRange& pieces_of(int chunk) const { return chunks_[static_cast<std::size_t>(chunk)]; }
  /// Ascending.
  std::vector<int> chunks_of(int stage) const;
  /// Of the first and of the last piece.
  int first_stage() const { return stage_of(0); }
  int last_stage() const { return stage_of(chunks() - 1); }

 private:
  int stages_;
  bool turns_back_;  // zbv
  std::vector<PieceRange> chunks_;
};

/// Of a stage: the chunk that works with a parameter, -1 where none here does. `stages` outlives
/// it.
ChunkOf chunks_here(const Stages& stages, const ModelSpec& model, int stage);

/// Of a model that ties its head to its embedding: the rank with the embedding, then that with the
/// head, where these are two stages; without ranks otherwise, and on the stages between.
CommGroup tied_stages(const Stages& stages, const ModelSpec& model, const Mesh& mesh);

}  // namespace meshparity
