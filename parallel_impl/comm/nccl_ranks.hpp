// For tests: ranks of NcclComm as threads, over a NCCL and a GPU that are none.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "parallel_impl/comm/nccl_comm.hpp"
#include "parallel_impl/comm/rank_calls.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {

struct NcclOutcome {
  std::vector<std::string> errors;
  std::string first;
};

using OnNccl = std::function<void(NcclComm&)>;

inline void add_doubles(CudaStream& stream, const Payload& from, const Payload& into) {
  FakeGpu::get().begin(stream.get(), [from, into] {
    for (std::int64_t i = 0; i < into.count; ++i) {
      reinterpret_cast<double*>(into.data)[i] += reinterpret_cast<const double*>(from.data)[i];
    }
  });
}

/// Ranks are threads that meet in ThreadComm, as processes would over MPI.
inline NcclOutcome run_on_nccl(int world, bool ordered, const OnNccl& body,
                               std::chrono::milliseconds limit = kDefaultTimeLimit) {
  ThreadWorld threads(numbered_coordinates(world), limit);
  NcclOutcome outcome;
  outcome.errors = run_rank_threads(threads, [&](int rank) {
    ThreadComm host(threads, rank);
    CudaStream stream;
    const auto add = [&](const Payload& from, const Payload& into) {
      add_doubles(stream, from, into);
    };
    NcclComm comm({host, threads.state()}, stream, {ordered, add});
    body(comm);
  });
  const auto failure = threads.first_failure();
  outcome.first = failure ? failure->what : "";
  return outcome;
}

class Nccl : public testing::Test {
 protected:
  void SetUp() override { FakeGpu::get().reset(); }
  static std::vector<std::string> errors(int world, const OnNccl& body, bool ordered = false) {
    return run_on_nccl(world, ordered, body).errors;
  }
  static void sum(Comm& comm, std::vector<double>& values) {
    comm.all_reduce(everyone(comm), std::span(values), ReduceOp::sum, site_of("mlp.down"));
  }
  static void sum_of_ones(Comm& comm) {
    std::vector<double> values = {1};
    sum(comm, values);
  }
};

}  // namespace meshparity
