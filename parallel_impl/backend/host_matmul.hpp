// The host's product: the bits of the kernel Matmul, by vectors over columns, for whatever
// instruction set the CPU has. Every variant gives the same bits.
#pragma once
#include <vector>

#include "parallel_impl/kernels/matmul.cuh"

namespace meshparity {

enum class InstructionSet { baseline, avx2, avx512 };

/// What this CPU runs, poorest first.
std::vector<InstructionSet> instruction_sets();
InstructionSet best_instruction_set();

template <class T>
using HostMatmul = void (*)(const Matmul<T>& product);

/// The variant for an instruction set that this CPU has; T is double or float.
template <class T>
HostMatmul<T> host_matmul(InstructionSet set);

// One pair a translation unit, each compiled for its own instruction set.
void matmul_baseline(const Matmul<double>& product);
void matmul_baseline(const Matmul<float>& product);
void matmul_avx2(const Matmul<double>& product);
void matmul_avx2(const Matmul<float>& product);
void matmul_avx512(const Matmul<double>& product);
void matmul_avx512(const Matmul<float>& product);

}  // namespace meshparity
