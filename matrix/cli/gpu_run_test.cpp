// The driver and the reference, with the worker for GPUs over a GPU that is none: what a machine
// with a GPU has to show, judged by the limits of each precision's own lane.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fixtures/scratch_folder.hpp"
#include "matrix/cli/program_run.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GpuRun : public testing::Test {
 protected:
  /// The installation, with this program in the place of the worker for GPUs.
  void install(const std::string& gpu_worker) const {
    const fs::path from = fs::path(MESHPARITY_PROGRAM).parent_path();
    fs::create_directories(scratch_ / "bin");
    for (const char* name : {"meshparity", "meshparity-reference", "meshparity-worker"}) {
      fs::copy_file(from / name, scratch_.path() / "bin" / name);
    }
    if (!gpu_worker.empty()) {
      fs::copy_file(gpu_worker, scratch_ / "bin/meshparity-worker-cuda");
    }
  }
  ProgramRun run(std::vector<std::string> words) const {
    fs::remove_all(scratch_ / "out");
    words.insert(words.begin(), {scratch_ / "bin/meshparity", "run"});
    words.insert(words.end(), {"--out", scratch_ / "out", "--cache", scratch_ / "cache", "--once"});
    return run_to_end(words, scratch_ / "stderr");
  }
  ScratchFolder scratch_;
};

TEST_F(GpuRun, EveryPrecisionConformsWithinTheLimitsOfItsLane) {
  install(FAKE_GPU_WORKER);

  const ProgramRun ran =
      run({"gpt-micro.dp2-tp2.sp-mb2.tf32.cuda-threads", "llama-micro.tp2.sgd.tf32.cuda-threads",
           "gpt-tiny.tp2.sp-steps1.bf16.cuda-threads", "llama-micro.tp2.steps1.fp32.cuda-threads"});

  EXPECT_EQ(ran.exit, 0) << ran.out;
}

// Three bits less than TF32 has, in every product.
TEST_F(GpuRun, Tf32ThatIsRoundedTooCoarselyDiverges) {
  install(COARSE_GPU_WORKER);

  const ProgramRun ran = run({"gpt-micro.dp2-tp2.sp-mb2.tf32.cuda-threads"});

  EXPECT_EQ(ran.exit, 1) << ran.out;
  EXPECT_THAT(ran.out,
              HasSubstr("diverges  gpt-micro.dp2-tp2.sp-mb2.tf32.cuda-threads\n  forward"));
}

TEST_F(GpuRun, WithoutAGpuTheOtherCasesAreTheVerdict) {
  install("");
  std::ofstream(scratch_ / "mine.toml") << "[[cases]]\nmodels = [\"gpt-micro\"]\n"
                                           "meshes = [\"dp2\"]\nfeatures = [\"steps1\"]\n"
                                           "data = [\"zipf\"]\nprecisions = [\"fp64\"]\n"
                                           "machines = [\"host-threads\", \"cuda-threads\"]\n";
  const ProgramRun both = run({"--suite", scratch_ / "mine.toml"});
  EXPECT_EQ(both.exit, 0) << both.out;
  EXPECT_THAT(both.out, HasSubstr("not run: 1"));
  EXPECT_THAT(both.out, HasSubstr("built without CUDA, meshparity-worker-cuda is missing"));

  const ProgramRun host = run({"gpt-micro.dp2.steps1.tf32.host-threads"});
  EXPECT_EQ(host.exit, 3) << host.out;
  EXPECT_THAT(host.out, HasSubstr("tf32 is how a GPU multiplies: it needs a cuda machine"));
  EXPECT_EQ(run({"gpt-micro.dp2.steps1.tf32.cuda-threads"}).exit, 3);
}

}  // namespace
}  // namespace meshparity
