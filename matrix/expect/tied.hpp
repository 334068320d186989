// The one weight that two pieces read, embedding and head, by matrix's own formulas (algorithms.md
// §1.7): where it lies once, and which two ranks add its gradients.
#pragma once
#include "matrix/expect/groups.hpp"
#include "matrix/expect/owners.hpp"

namespace meshparity::expect {

/// embed.weight and head.weight of a model that ties them.
bool is_tied(const ParamSpec& param, const ModelSpec& model);

/// Whether a parameter on this rank has no values of its own: a tied head beside the embedding. On
/// another stage than the embedding's it is a copy with an optimizer state of its own.
bool reads_another(const ParamSpec& param, const Layout& layout, int rank);

/// The two ranks of a pipeline that hold a copy each of the tied weight, the embedding's first; no
/// rank where the model does not tie, where one stage holds both, and on other stages.
Group tied_copies(const Layout& layout, int rank);

}  // namespace meshparity::expect
