// How a model is cut along a pipeline, by matrix's own formulas (algorithms.md §3.1): pieces make
// chunks, chunks lie on stages, a rank's stage is its coordinate on pp.
#pragma once
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/model_spec.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// Pieces [first, first + count). A model of L blocks has L + 2 of them: 0 is the embedding, 1 to L
/// are the blocks, L + 1 is the head with the final norm.
struct Pieces {
  int first = 0;
  int count = 0;

  int end() const { return first + count; }
  bool holds(int piece) const { return piece >= first && piece < end(); }
  bool operator==(const Pieces&) const = default;
};

int piece_count(const ModelSpec& model);
/// Of a parameter or record: "layer3.attn.q.weight" is of piece 4, what is of no block and does not
/// begin with "embed" is of the head.
int piece_named(std::string_view name, const ModelSpec& model);

/// v: int<v> has v chunks a stage, zbv two, every other schedule one. G = p v chunks in all.
int chunks_per_stage(const CaseSpec& spec);
int chunk_count(const CaseSpec& spec);
/// Chunk g lies on stage g mod p; with zbv it comes back: 0 1 2 2 1 0 for p = 3.
int stage_of_chunk(const CaseSpec& spec, int chunk);
/// Ascending.
std::vector<int> chunks_of_stage(const CaseSpec& spec, int stage);

/// Chunks hold consecutive pieces. Even: the first chunks hold one more where they do not divide.
/// Split: a stage's pieces are divided over its chunks, the first of them holding one more.
/// 8 pieces as split5_3 with int2 are 3 2 2 1: chunks 0 and 2 share the five of stage 0.
Pieces pieces_of_chunk(const Layout& layout, int chunk);
/// Ascending; of several chunks those of the first come first.
std::vector<int> pieces_of_stage(const Layout& layout, int stage);
int chunk_of_piece(const Layout& layout, int piece);
int stage_of_piece(const Layout& layout, int piece);

/// Of a rank: its coordinate on pp, and whether it holds a piece.
int stage_of(const CaseSpec& spec, int rank);
bool holds_piece(const Layout& layout, int rank, int piece);

}  // namespace meshparity::expect
