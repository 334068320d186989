#include "parallel_impl/backend/host_matmul.hpp"

namespace meshparity {

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::baseline};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) {
    sets.push_back(InstructionSet::avx2);
  }
  if (__builtin_cpu_supports("avx512f")) {
    sets.push_back(InstructionSet::avx512);
  }
#endif
  return sets;
}

InstructionSet best_instruction_set() {
  return instruction_sets().back();
}

template <class T>
HostMatmul<T> host_matmul(InstructionSet set) {
  switch (set) {
    case InstructionSet::avx512:
      return &matmul_avx512;
    case InstructionSet::avx2:
      return &matmul_avx2;
    case InstructionSet::baseline:
      break;
  }
  return &matmul_baseline;
}

template HostMatmul<double> host_matmul<double>(InstructionSet set);
template HostMatmul<float> host_matmul<float>(InstructionSet set);

}  // namespace meshparity
