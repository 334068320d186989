// Whole cases on a GPU that is none (cuda/fake_gpu.hpp): the bits of the host. The host cannot
// touch that memory, and work is done only when something waits for it, so whatever reads a result
// past the backend or too early ends the test.
#include "parallel_impl/train_on_cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/case_run.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Paths of /local/ whose bits differ; a skipped step has NaN there.
std::vector<std::string> unlike_locals(const CaseRun& a, const CaseRun& b) {
  std::vector<std::string> unlike;
  for (std::size_t rank = 0; rank < a.locals.size(); ++rank) {
    for (const auto& [path, values] : a.locals[rank]) {
      const auto other = b.locals[rank].find(path);
      const bool same =
          other != b.locals[rank].end() && other->second.size() == values.size() &&
          std::memcmp(other->second.data(), values.data(), values.size() * sizeof(double)) == 0;
      if (!same) {
        unlike.push_back(path);
      }
    }
  }
  return unlike;
}

class TrainOnCuda : public testing::Test {
 protected:
  void SetUp() override { FakeGpu::get().reset(); }
  static std::string error_of(const std::string& id) {
    try {
      run_whole_case(id, Level::all, train_on_cuda);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

void expect_bits_of_the_host(const std::string& layout) {
  const CaseRun host = run_whole_case(layout + ".host-threads", Level::all);
  const CaseRun gpu = run_whole_case(layout + ".cuda-threads", Level::all, train_on_cuda);

  EXPECT_THAT(gpu.complaints, IsEmpty()) << layout;
  EXPECT_EQ(gpu.records.size(), host.records.size()) << layout;
  EXPECT_THAT(differing(host, gpu, "step"), IsEmpty()) << layout;
  EXPECT_THAT(unlike_locals(host, gpu), IsEmpty()) << layout;
  EXPECT_EQ(gpu.collectives.front().size(), host.collectives.front().size()) << layout;
}

TEST_F(TrainOnCuda, GivesTheBitsOfTheHostOnEveryKindOfModel) {
  for (const char* layout : {"gpt-micro.single.plain.fp64", "gpt-micro.dp2-tp2.sp-mb2.fp64",
                             "llama-micro.tp4.momentum-lscale-steps2.fp32",
                             "mixed-micro.tp2.sp-sgd-eager-steps1.fp32"}) {
    expect_bits_of_the_host(layout);
  }
  EXPECT_GT(FakeGpu::get().calls("cublasGemmEx"), 0);
}

TEST_F(TrainOnCuda, GivesTheBitsOfTheHostInPipelinesUnderZeROWithMastersAndRecomputation) {
  for (const char* layout :
       {"gpt-micro.dp2-pp2.1f1b-mb2-zero2-steps1.fp64",
        "gpt-micro.pp2.zbh1-mb2-rc_full-steps1.fp64",
        "llama-micro.dp2.mb2-zero3-bucket4-steps2.fp64", "gpt-micro.dp2.zero3_param-steps1.fp64",
        "gpt-micro.tp2.rc_selective-master64-steps2.fp32"}) {
    expect_bits_of_the_host(layout);
  }
}

// Several versions of the weights are copied and read in the stream.
TEST_F(TrainOnCuda, GivesTheBitsOfTheHostInPipelinesThatAreNeverFlushed) {
  for (const char* layout : {"llama-micro.pp2.pipedream-mb4-clip_off-steps1.fp64",
                             "llama-micro.tp2-pp2.sp-pipedream_vsync-mb4-clip_off-steps1.fp64",
                             "llama-micro.dp2-pp2.pipedream_2bw-mb2-sgd-clip_off.fp32"}) {
    expect_bits_of_the_host(layout);
  }
}

// Operands are such numbers, or cuBLAS would round them and the bits would differ; where a gradient
// is none, whoever multiplies it says so.
TEST_F(TrainOnCuda, GivesTheBitsOfTheHostInBfloat16) {
  for (const char* layout :
       {"gpt-micro.dp2-tp2.sp-mb2-steps2.bf16", "llama-micro.tp4.steps2.bf16",
        "mixed-micro.tp2.momentum-steps2.bf16", "gpt-micro.dp2-pp2.1f1b-mb2-zero2-steps1.bf16"}) {
    expect_bits_of_the_host(layout);
  }
}

// One layer: forward q, k, v, out, up, down, backward q, k, v twice each, and the head's three. The
// two of up's gradient are never of bfloat16, those of out and down without dropout only.
TEST_F(TrainOnCuda, MultipliesBfloat16WhereverOperandsAreSuchNumbers) {
  const auto products = [](const std::string& dropout) {
    FakeGpu::get().reset();
    run_whole_case("gpt-micro.single." + dropout + "steps1.bf16.cuda-threads", Level::final,
                   train_on_cuda);
    return std::pair(FakeGpu::get().calls("gemm in bf16"),
                     FakeGpu::get().calls("gemm in its own type"));
  };
  EXPECT_EQ(products(""), std::pair(6 + 6 + 3, 2 + 4));
  EXPECT_EQ(products("drop0-"), std::pair(6 + 6 + 3 + 4, 2));
}

TEST_F(TrainOnCuda, ProductsInTf32AreAllOfTheCaseThatIs) {
  const std::string layout = "llama-micro.tp2.steps1";
  const CaseRun narrow =
      run_whole_case(layout + ".tf32.cuda-threads", Level::standard, train_on_cuda);
  EXPECT_GT(FakeGpu::get().calls("gemm in tf32"), 0);
  EXPECT_EQ(FakeGpu::get().calls("gemm in its own type"), 0);
  EXPECT_THAT(narrow.complaints, IsEmpty());

  const CaseRun wide = run_whole_case(layout + ".fp32.host-threads", Level::standard);
  EXPECT_THAT(differing(wide, narrow, "step"), Not(IsEmpty()));
}

TEST_F(TrainOnCuda, SaysWhatItsBitsDependOn) {
  const auto said = [](const std::string& rest) {
    return determinism_on_cuda(parse_case("gpt-micro.tp2." + rest));
  };
  EXPECT_EQ(said("plain.fp32.cuda-threads"),
            "canonical sums, products by cuBLAS, TF32 off, fixed workspace, no contraction");
  EXPECT_THAT(said("plain.tf32.cuda-mpi"), HasSubstr("products by cuBLAS in TF32"));
  EXPECT_THAT(said("plain.bf16.cuda-nccl"),
              HasSubstr("sums by NCCL, products by cuBLAS of bfloat16, sums in float"));
  EXPECT_THAT(said("fixedgemm.bf16.cuda-threads"), HasSubstr("canonical sums, fixed products"));
}

TEST_F(TrainOnCuda, AFixedProductIsOurOwnKernel) {
  const std::string layout = "gpt-micro.tp2.steps1";
  const CaseRun host = run_whole_case(layout + ".fp32.host-threads", Level::standard);
  const CaseRun gpu = run_whole_case("gpt-micro.tp2.fixedgemm-steps1.fp32.cuda-threads",
                                     Level::standard, train_on_cuda);

  EXPECT_THAT(differing(host, gpu, "step"), IsEmpty());
  EXPECT_EQ(FakeGpu::get().calls("cublasGemmEx"), 0);
}

TEST_F(TrainOnCuda, AProbeShowsItsIndices) {
  const std::string layout = "gpt-micro.dp2-tp2.sp.fp64";
  const CaseRun host = run_whole_case(layout + ".host-threads+probe", Level::standard);
  const CaseRun gpu =
      run_whole_case(layout + ".cuda-threads+probe", Level::standard, train_on_cuda);

  EXPECT_THAT(differing(host, gpu, "step"), IsEmpty());
}

TEST_F(TrainOnCuda, AllItsMemoryGoesBack) {
  const std::size_t before = FakeGpu::get().bytes_in_use();

  run_whole_case("gpt-micro.tp2.steps1.fp64.cuda-threads", Level::standard, train_on_cuda);

  EXPECT_EQ(FakeGpu::get().bytes_in_use(), before);
}

TEST_F(TrainOnCuda, AFailureOfCudaEndsTheCaseWithItsCall) {
  FakeGpu::get().fail("cudaLaunchKernel", 100, cudaErrorLaunchFailure);

  EXPECT_THAT(error_of("gpt-micro.tp2.plain.fp64.cuda-threads"), HasSubstr("launching "));
}

TEST_F(TrainOnCuda, AnErrorInsideAKernelEndsTheCaseForAllRanks) {
  FakeGpu::get().fail_in_launch(100, cudaErrorIllegalAddress);

  EXPECT_THAT(error_of("gpt-micro.dp2-tp2.plain.fp64.cuda-threads"),
              HasSubstr("(cudaErrorIllegalAddress)"));
}

}  // namespace
}  // namespace meshparity
