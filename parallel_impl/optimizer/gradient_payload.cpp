#include "parallel_impl/optimizer/gradient_payload.hpp"

#include <cstddef>

namespace meshparity {
namespace {

Payload words_of(Buffer<Bfloat16>& buffer) {
  return {reinterpret_cast<std::byte*>(buffer.data()), buffer.count(), ElementType::bfloat16};
}

template <class T>
T* elements(const Payload& payload) {
  return reinterpret_cast<T*>(payload.data);
}

}  // namespace

template <class T>
typename GradientPayload<T>::Transit GradientPayload<T>::prepared(const Collective& sum) {
  Transit transit;
  transit.sum = transit.sent = sum;
  transit.rounded = rounded_ && sum.group.size() > 1;
  if (!transit.rounded) {
    return transit;
  }
  const std::int64_t count = sum.input.count;
  transit.input = Buffer<Bfloat16>(backend_, MemoryTag::buffer, count);
  backend_.run(
      RoundToBfloat16<T>{elements<T>(sum.input), transit.input.data(), static_cast<int>(count)});
  transit.divided = faults_.fires("gradcomm_divided_before");
  if (transit.divided) {
    divide(transit.input, sum.group.size());
  }
  transit.sent.input = transit.sent.output = words_of(transit.input);
  if (sum.kind == CollectiveKind::reduce_scatter) {
    transit.output = Buffer<Bfloat16>(backend_, MemoryTag::buffer, sum.output.count);
    transit.sent.output = words_of(transit.output);
  }
  transit.sent.accumulator =
      faults_.fires("gradcomm_summed_in_bf16") ? ElementType::bfloat16 : element_type<T>();
  return transit;
}

template <class T>
typename GradientPayload<T>::Transit GradientPayload<T>::start(const Collective& sum) {
  Transit transit = prepared(sum);
  transit.ticket = comm_.start(transit.sent);
  return transit;
}

template <class T>
void GradientPayload<T>::wait(Transit& transit) {
  comm_.wait(transit.ticket);
  finish(transit);
}

template <class T>
void GradientPayload<T>::carry_out(const Collective& sum) {
  Transit transit = prepared(sum);
  comm_.carry_out(transit.sent);
  finish(transit);
}

template <class T>
void GradientPayload<T>::finish(Transit& transit) {
  if (!transit.rounded) {
    return;
  }
  const bool scattered = transit.sum.kind == CollectiveKind::reduce_scatter;
  Buffer<Bfloat16>& words = scattered ? transit.output : transit.input;
  if (transit.divided) {
    divide(words, 1.0 / transit.sum.group.size());
  }
  backend_.run(WidenBfloat16<T>{words.data(), elements<T>(transit.sum.output),
                                static_cast<int>(words.count())});
}

/// A planted fault: rounds once more.
template <class T>
void GradientPayload<T>::divide(Buffer<Bfloat16>& words, double divisor) {
  const auto count = static_cast<int>(words.count());
  Buffer<T> wide(backend_, MemoryTag::buffer, count);
  backend_.run(WidenBfloat16<T>{words.data(), wide.data(), count});
  backend_.run(Divide<T>{wide.data(), count, static_cast<T>(divisor)});
  backend_.run(RoundToBfloat16<T>{wide.data(), words.data(), count});
}

template class GradientPayload<double>;
template class GradientPayload<float>;

}  // namespace meshparity
