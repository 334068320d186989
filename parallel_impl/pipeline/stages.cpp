#include "parallel_impl/pipeline/stages.hpp"

#include "parallel_impl/model/placement.hpp"

namespace meshparity {
namespace {

int chunks_a_stage(const CaseSpec& spec) {
  if (spec.schedule == Schedule::interleaved) {
    return spec.virtual_chunks;
  }
  return spec.schedule == Schedule::zbv ? 2 : 1;
}

}  // namespace

Stages::Stages(const CaseSpec& spec, const ModelSpec& model)
    : stages_(spec.mesh.degree(Axis::pp)), turns_back_(spec.schedule == Schedule::zbv) {
  const int count = stages_ * chunks_a_stage(spec);
  chunks_.resize(static_cast<std::size_t>(count));
  int first = 0;
  for (int chunk = 0; chunk < count; ++chunk) {
    const int stage = stage_of(chunk);
    const int of_stage = chunk / stages_;
    const int pieces = spec.split.empty() ? row_share(model.layers + 2, count, chunk).count
                                          : row_share(spec.split[static_cast<std::size_t>(stage)],
                                                      count / stages_, of_stage)
                                                .count;
    chunks_[static_cast<std::size_t>(chunk)] = {first, pieces};
    first += pieces;
  }
}

int Stages::stage_of(int chunk) const {
  const bool back = turns_back_ && chunk >= stages_;
  return back ? 2 * stages_ - 1 - chunk : chunk % stages_;
}

std::vector<int> Stages::chunks_of(int stage) const {
  std::vector<int> held;
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    if (stage_of(chunk) == stage) {
      held.push_back(chunk);
    }
  }
  return held;
}

ChunkOf chunks_here(const Stages& stages, const ModelSpec& model, int stage) {
  return [&stages, &model, stage](const ParamSpec& param) {
    const int piece = piece_of(param, model);
    for (const int chunk : stages.chunks_of(stage)) {
      if (stages.pieces_of(chunk).holds(piece)) {
        return chunk;
      }
    }
    return -1;
  };
}

CommGroup tied_stages(const Stages& stages, const ModelSpec& model, const Mesh& mesh) {
  const int here = mesh.index(Axis::pp);
  const int first = stages.first_stage();
  const int last = stages.last_stage();
  if (!model.tied_embeddings || first == last || (here != first && here != last)) {
    return {};
  }
  CommGroup group = mesh.group({Axis::pp});
  group.index = here == first ? 0 : 1;
  group.ranks = {group.ranks[static_cast<std::size_t>(first)],
                 group.ranks[static_cast<std::size_t>(last)]};
  return group;
}

}  // namespace meshparity
