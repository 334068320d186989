#include "matrix/expect/tied.hpp"

#include <array>

#include "matrix/expect/stages.hpp"

namespace meshparity::expect {

bool is_tied(const ParamSpec& param, const ModelSpec& model) {
  return model.tied_embeddings && (param.name == "embed.weight" || param.name == "head.weight");
}

bool reads_another(const ParamSpec& param, const Layout& layout, int rank) {
  return !param.tied_to.empty() &&
         holds_piece(layout, rank, piece_named(param.tied_to, layout.model));
}

Group tied_copies(const Layout& layout, int rank) {
  const Group pipeline = group_along(layout.spec, rank, std::array{Axis::pp});
  const int first = stage_of_piece(layout, 0);
  const int last = stage_of_piece(layout, piece_count(layout.model) - 1);
  const int stage = stage_of(layout.spec, rank);
  if (!layout.model.tied_embeddings || first == last || (stage != first && stage != last)) {
    return {pipeline.axes, {}};
  }
  return {pipeline.axes,
          {pipeline.ranks.at(static_cast<std::size_t>(first)),
           pipeline.ranks.at(static_cast<std::size_t>(last))}};
}

}  // namespace meshparity::expect
