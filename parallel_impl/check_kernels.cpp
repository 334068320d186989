#include "parallel_impl/check_kernels.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/backend_on.hpp"
#include "parallel_impl/backend/cuda_checked_device.hpp"
#include "parallel_impl/train_on_cuda.hpp"
#include "parallel_impl/worker/run_case.hpp"

namespace meshparity {
namespace {

void train_checked(const RankContext& context, KernelChecks& checks) {
  choose_device(context.mesh.rank());
  const auto stream = std::make_shared<CudaStream>();
  const ProductKind products = products_of(context.spec);
  train_staged(
      context, *stream,
      {[=, &checks] {
         return std::make_unique<BackendOn<double, CheckedDevice>>(stream, products, checks);
       },
       [=, &checks] {
         return std::make_unique<BackendOn<float, CheckedDevice>>(stream, products, checks);
       }});
}

void check_case(const Job& job, KernelChecks& checks) {
  const CaseEvidence evidence = run_case(
      load_case(job), [&checks](const RankContext& context) { train_checked(context, checks); },
      std::chrono::minutes(2));
  if (evidence.failure) {
    throw Error(fmt::format("{}: {}", job.case_id, evidence.failure->what));
  }
}

}  // namespace

std::vector<std::string> cases_of_kernel_check() {
  std::vector<std::string> ids;
  for (const char* precision : {"fp64", "fp32"}) {
    for (const char* layout : {"gpt-micro.tp2.sp-steps1", "llama-micro.tp2.sgd-steps1",
                               "mixed-micro.tp2.momentum-steps1"}) {
      ids.push_back(fmt::format("{}.{}.cuda-threads", layout, precision));
    }
    ids.push_back(fmt::format("gpt-micro.dp2.sgd-gradcomm_bf16-steps1.{}.cuda-threads", precision));
  }
  for (const char* narrow :
       {"master64-steps1.fp32", "sgd-master64-steps1.fp32", "momentum-master64-steps1.fp32",
        "steps1.bf16", "master64-steps1.bf16"}) {
    ids.push_back(fmt::format("gpt-micro.tp2.{}.cuda-threads", narrow));
  }
  return ids;
}

void check_kernels(const std::filesystem::path& models, const std::vector<std::string>& ids,
                   KernelChecks& checks) {
  std::string folder = (std::filesystem::temp_directory_path() / "check_kernels_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw Error("making a temporary folder");
  }
  for (const std::string& id : ids) {
    Job job;
    job.case_id = id;
    job.out = folder;
    job.models = models;
    check_case(job, checks);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace meshparity
