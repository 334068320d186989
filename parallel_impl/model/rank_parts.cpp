#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

LocalExtent::LocalExtent(const ModelSpec& model, const Mesh& mesh, int sample_count)
    : samples(sample_count),
      rows(sample_count * model.sequence),
      heads(model.heads / mesh.degree(Axis::tp)),
      first_head(heads * mesh.index(Axis::tp)),
      head_width(heads * model.head_dim),
      ffn(model.ffn / mesh.degree(Axis::tp)) {
  assert(model.heads % mesh.degree(Axis::tp) == 0 && model.ffn % mesh.degree(Axis::tp) == 0);
}

template <class T>
Workspace<T>::Workspace(const ModelSpec& model, const LocalExtent& extent, int largest_param,
                        Memory& memory)
    : param_grad(memory, MemoryTag::buffer, largest_param),
      branch(memory, MemoryTag::buffer, extent.rows * model.hidden),
      back(memory, MemoryTag::buffer, extent.rows * model.hidden),
      partial(memory, MemoryTag::buffer, extent.rows * model.hidden),
      grad_context(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_q(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_k(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_v(memory, MemoryTag::buffer, extent.rows * extent.head_width),
      grad_scores(memory, MemoryTag::buffer, extent.rows * extent.heads * model.sequence),
      grad_ffn(memory, MemoryTag::buffer, extent.rows * extent.ffn) {}

template struct Workspace<double>;
template struct Workspace<float>;

}  // namespace meshparity
