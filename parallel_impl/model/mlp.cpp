#include "parallel_impl/model/mlp.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

template <class T>
Param<T>& of_layer(Parameters<T>& params, int layer, const char* name) {
  return params.at(fmt::format("layer{}.mlp.{}", layer, name));
}

}  // namespace

template <class T>
MlpLayer<T>::Saved::Saved(const RankParts<T>& parts)
    : up(parts.backend, MemoryTag::activation_B, parts.extent.rows * parts.extent.ffn),
      act(parts.backend, MemoryTag::activation_W, up.count()) {}

template <class T>
MlpLayer<T>::MlpLayer(RankParts<T>& parts, Parameters<T>& params, int layer)
    : parts_(parts),
      layer_(layer),
      up_(parts, of_layer(params, layer, "up.weight"), of_layer(params, layer, "up.bias")),
      down_(parts, of_layer(params, layer, "down.weight"), of_layer(params, layer, "down.bias"),
            "mlp.down") {}

template <class T>
std::string MlpLayer<T>::name(const char* record) const {
  return fmt::format("layer{}.mlp.{}", layer_, record);
}

template <class T>
void MlpLayer<T>::forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out,
                          Saved& saved) const {
  saved.x = x;
  Tensor<T> up = matrix_in(saved.up, x.rows, shard(1));
  const Tensor<T> act = matrix_in(saved.act, x.rows, shard(1));
  up_.forward(x, up);
  parts_.records.features(Phase::forward, name("up"), up);
  parts_.backend.run(GeluForward<T>{up.data, act.data, act.count()});
  parts_.records.features(Phase::forward, name("act"), act);
  down_.forward(place, act, out);
  parts_.records.features(Phase::forward, name("out"), out);
}

template <class T>
void MlpLayer<T>::backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                           Saved& saved) const {
  const int rows = grad_out.rows;
  Tensor<T> grad = matrix_in(parts_.work.grad_ffn, rows, shard(1));
  down_.weight_grad(matrix_in(saved.act, rows, shard(1)), grad_out);
  down_.input_grad(grad_out, grad);
  parts_.records.features(Phase::backward, name("act"), grad);
  parts_.backend.run(GeluBackward<T>{saved.up.data(), grad.data, grad.data, grad.count()});
  parts_.records.features(Phase::backward, name("up"), grad);
  up_.weight_grad(saved.x, grad);
  up_.input_grad(grad, grad_x);
  sum_over_tp(parts_, grad_x, site_in(place, layer_, "mlp.up", "backward"));
}

template class MlpLayer<double>;
template class MlpLayer<float>;

}  // namespace meshparity
