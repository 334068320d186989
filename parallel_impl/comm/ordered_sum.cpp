#include "parallel_impl/comm/ordered_sum.hpp"

#include <algorithm>
#include <type_traits>

namespace meshparity {
namespace {

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Word = std::make_unsigned_t<T>;  // wraps instead of overflowing
    return static_cast<T>(static_cast<Word>(static_cast<Word>(a) + static_cast<Word>(b)));
  } else {
    return a + b;
  }
}

template <class T>
T greater(T a, T b) {
  return b > a || b != b ? b : a;  // b != b: NaN; a NaN in a stays, for nothing is greater
}

template <class T, class Combine>
void reduce_typed(const Reduction& reduction, T* out, const Combine& combine) {
  constexpr std::int64_t kBlock = 1024;  // stays in the nearest cache while ranks are added to it
  for (std::int64_t begin = 0; begin < reduction.count; begin += kBlock) {
    const std::int64_t size = std::min(kBlock, reduction.count - begin);
    T* const sum = out + begin;
    for (std::size_t rank = 0; rank < reduction.inputs.size(); ++rank) {
      const T* const in =
          reinterpret_cast<const T*>(reduction.inputs[rank]) + reduction.first + begin;
      for (std::int64_t i = 0; i < size; ++i) {
        sum[i] = rank == 0 ? in[i] : combine(sum[i], in[i]);
      }
    }
  }
}

/// As the others, one element after the other: x0 + x1 + ... in Wide, then one rounding.
template <class Wide>
void sum_bfloat16(const Reduction& reduction, Bfloat16* out) {
  for (std::int64_t i = 0; i < reduction.count; ++i) {
    Wide sum = 0;
    for (std::size_t rank = 0; rank < reduction.inputs.size(); ++rank) {
      const auto* const in = reinterpret_cast<const Bfloat16*>(reduction.inputs[rank]);
      const Wide term = static_cast<Wide>(widened(in[reduction.first + i]));
      sum = rank == 0 ? term : sum + term;
    }
    out[i] = rounded_to_bfloat16(sum);
  }
}

void reduce_bfloat16(const Reduction& reduction, std::byte* out) {
  auto* const typed = reinterpret_cast<Bfloat16*>(out);
  if (reduction.op == ReduceOp::max) {
    reduce_typed(reduction, typed, [](Bfloat16 a, Bfloat16 b) {
      return rounded_to_bfloat16(greater(widened(a), widened(b)));
    });
  } else if (reduction.accumulator == ElementType::bfloat16) {
    reduce_typed(reduction, typed, [](Bfloat16 a, Bfloat16 b) {
      return rounded_to_bfloat16(widened(a) + widened(b));
    });
  } else if (reduction.accumulator == ElementType::float64) {
    sum_bfloat16<double>(reduction, typed);
  } else {
    sum_bfloat16<float>(reduction, typed);
  }
}

template <class T>
void reduce_as(const Reduction& reduction, std::byte* out) {
  T* const typed = reinterpret_cast<T*>(out);
  if (reduction.op == ReduceOp::sum) {
    reduce_typed(reduction, typed, [](T a, T b) { return plus(a, b); });
  } else {
    reduce_typed(reduction, typed, [](T a, T b) { return greater(a, b); });
  }
}

}  // namespace

void reduce_in_order(const Reduction& reduction, std::byte* out) {
  switch (reduction.type) {
    case ElementType::float64:
      return reduce_as<double>(reduction, out);
    case ElementType::float32:
      return reduce_as<float>(reduction, out);
    case ElementType::int64:
      return reduce_as<std::int64_t>(reduction, out);
    case ElementType::int32:
      return reduce_as<std::int32_t>(reduction, out);
    case ElementType::uint8:
      return reduce_as<std::uint8_t>(reduction, out);
    case ElementType::bfloat16:
      return reduce_bfloat16(reduction, out);
  }
}

}  // namespace meshparity
