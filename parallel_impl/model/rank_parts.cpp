#include "parallel_impl/model/rank_parts.hpp"

#include <algorithm>

namespace meshparity {

LocalExtent::LocalExtent(const ModelSpec& model, const Mesh& mesh, bool cut, int sample_count)
    : samples(sample_count),
      rows(sample_count * model.sequence),
      cuts_rows(cut),
      stream(cut ? row_share(rows, mesh.degree(Axis::tp), mesh.index(Axis::tp))
                 : RowRange{0, rows}),
      heads(model.heads / mesh.degree(Axis::tp)),
      first_head(heads * mesh.index(Axis::tp)),
      head_width(heads * model.head_dim),
      kv_heads(std::max(1, model.kv_heads / mesh.degree(Axis::tp))),
      kv_copies(std::max(1, mesh.degree(Axis::tp) / model.kv_heads)),
      kv_width(kv_heads * model.head_dim),
      ffn(model.ffn / mesh.degree(Axis::tp)) {
  assert(model.heads % mesh.degree(Axis::tp) == 0 && model.ffn % mesh.degree(Axis::tp) == 0);
  assert(kv_heads * mesh.degree(Axis::tp) == model.kv_heads * kv_copies);
}

CommGroup kv_group(const CommGroup& tp, int kv_copies) {
  CommGroup group = tp;
  const auto first = tp.ranks.begin() + tp.index / kv_copies * kv_copies;
  group.ranks.assign(first, first + kv_copies);
  group.index = tp.index % kv_copies;
  return group;
}

template <class T>
Workspace<T>::Workspace(const ModelSpec& model, const LocalExtent& extent, int largest_param,
                        Memory& memory, bool drops_scores)
    : param_grad(memory, MemoryTag::buffer, largest_param),
      branch(memory, MemoryTag::buffer, extent.stream.count * model.hidden),
      back(memory, MemoryTag::buffer, branch.count()),
      partial(memory, MemoryTag::buffer, extent.rows * model.hidden),
      whole(memory, MemoryTag::buffer, extent.cuts_rows ? partial.count() : 0),
      gathered(memory, MemoryTag::buffer, whole.count()),
      gathered_grad(memory, MemoryTag::buffer, whole.count()),
      grad_context(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_q(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_k(memory, MemoryTag::buffer, extent.rows * extent.kv_width),
      grad_v(memory, MemoryTag::buffer, grad_k.count()),
      kv_sum(memory, MemoryTag::buffer, extent.kv_copies > 1 ? grad_k.count() : 0),
      grad_scores(memory, MemoryTag::buffer, extent.rows * extent.heads * model.sequence),
      grad_ffn(memory, MemoryTag::buffer, extent.rows * extent.ffn),
      grad_gate(memory, MemoryTag::buffer,
                model.activation == Activation::swiglu ? grad_ffn.count() : 0),
      probs(memory, MemoryTag::buffer, drops_scores ? grad_scores.count() : 0),
      sink_probs(memory, MemoryTag::buffer,
                 drops_scores && model.attention_sink ? extent.rows * extent.heads : 0) {}

template struct Workspace<double>;
template struct Workspace<float>;

}  // namespace meshparity
