// The candidate's fixed-order product beside Eigen's and, where it is installed, OpenBLAS's, in one
// run on one thread: google benchmark prints the floating-point operations a second of each.
#include <benchmark/benchmark.h>
#include <Eigen/Core>

#include <vector>

#include "parallel_impl/backend/host_matmul.hpp"
#ifdef MESHPARITY_CBLAS
#include <cblas.h>
#endif

namespace {

using namespace meshparity;

template <class T>
struct Operands {
  explicit Operands(const benchmark::State& state)
      : rows(static_cast<int>(state.range(0))),
        columns(static_cast<int>(state.range(1))),
        depth(static_cast<int>(state.range(2))),
        a(static_cast<std::size_t>(rows) * static_cast<std::size_t>(depth), T(0.5)),
        b(static_cast<std::size_t>(depth) * static_cast<std::size_t>(columns), T(0.25)),
        out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  void count(benchmark::State& state) const {
    const double operations = 2.0 * rows * columns * depth;
    state.counters["flops"] = benchmark::Counter(
        operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  }

  int rows, columns, depth;
  std::vector<T> a, b, out;
};

template <class T>
void ours(benchmark::State& state) {
  Operands<T> operands(state);
  const HostMatmul<T> product = host_matmul<T>(best_instruction_set());
  for (auto step : state) {
    static_cast<void>(step);
    product({operands.a.data(), operands.depth, 1, operands.b.data(), operands.columns, 1,
             operands.out.data(), operands.rows, operands.columns, operands.depth});
    benchmark::DoNotOptimize(operands.out.data());
  }
  operands.count(state);
}

template <class T>
void eigen(benchmark::State& state) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Operands<T> operands(state);
  const Eigen::Map<Matrix> a(operands.a.data(), operands.rows, operands.depth);
  const Eigen::Map<Matrix> b(operands.b.data(), operands.depth, operands.columns);
  Eigen::Map<Matrix> out(operands.out.data(), operands.rows, operands.columns);
  for (auto step : state) {
    static_cast<void>(step);
    out.noalias() = a * b;
    benchmark::DoNotOptimize(operands.out.data());
  }
  operands.count(state);
}

// Tokens x hidden, hidden x ffn and back, of gpt-tiny on tp 1 and tp 8, and of llama-timing.
void shapes(benchmark::internal::Benchmark* bench) {
  bench->Args({1008, 264, 72})->Args({1008, 72, 264})->Args({1008, 33, 72})->Args({512, 704, 256});
}

BENCHMARK(ours<double>)->Apply(shapes);
BENCHMARK(eigen<double>)->Apply(shapes);
BENCHMARK(ours<float>)->Apply(shapes);
BENCHMARK(eigen<float>)->Apply(shapes);

#ifdef MESHPARITY_CBLAS
void openblas_double(benchmark::State& state) {
  Operands<double> operands(state);
  for (auto step : state) {
    static_cast<void>(step);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, operands.rows, operands.columns,
                operands.depth, 1.0, operands.a.data(), operands.depth, operands.b.data(),
                operands.columns, 0.0, operands.out.data(), operands.columns);
  }
  operands.count(state);
}

void openblas_float(benchmark::State& state) {
  Operands<float> operands(state);
  for (auto step : state) {
    static_cast<void>(step);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, operands.rows, operands.columns,
                operands.depth, 1.0F, operands.a.data(), operands.depth, operands.b.data(),
                operands.columns, 0.0F, operands.out.data(), operands.columns);
  }
  operands.count(state);
}

BENCHMARK(openblas_double)->Apply(shapes);
BENCHMARK(openblas_float)->Apply(shapes);
#endif

}  // namespace

BENCHMARK_MAIN();
