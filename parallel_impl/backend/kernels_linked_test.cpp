// That every kernel of the folder is in the libraries, for every machine and scalar type: the names
// are read from the sources, the instantiations from the symbols.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "parallel_impl/backend/kernel_names.hpp"

namespace meshparity {
namespace {

/// Symbols that the library defines, as C++ names, a line each.
std::string symbols_of(const std::string& library) {
  const std::string command =
      fmt::format("{} --demangle --defined-only '{}' 2>&1", MESHPARITY_NM, library);
  std::string text;
  FILE* const lines = popen(command.c_str(), "r");
  char part[4096];
  while (fgets(part, sizeof part, lines) != nullptr) {
    text += part;
  }
  EXPECT_EQ(pclose(lines), 0) << command;
  return text;
}

/// "Divide<float>" of each kernel and scalar type for which `symbol`, with {} for it, is missing.
std::vector<std::string> missing(const std::vector<std::string>& kernels,
                                 const std::string& library, const std::string& symbol) {
  const std::string symbols = symbols_of(library);
  std::vector<std::string> names;
  for (const std::string& kernel : kernels) {
    for (const char* scalar : {"double", "float"}) {
      const std::string name = fmt::format("{}<{}>", kernel, scalar);
      if (symbols.find(fmt::format(fmt::runtime(symbol), name, scalar)) == std::string::npos) {
        names.push_back(name);
      }
    }
  }
  return names;
}

constexpr const char* kOnHost =
    "BackendOn<{1}, meshparity::(anonymous namespace)::HostDevice>::run(meshparity::{0} const&)";
constexpr const char* kOnWarps = "run_on_warps<meshparity::{0} >(";
constexpr const char* kOnBlocks = "run_on_blocks<meshparity::{0} >(";
constexpr const char* kLaunched = "cuda_launch<meshparity::{0} >(meshparity::{0} const&";

TEST(KernelsLinked, TheFolderHasThem) {
  EXPECT_GT(kernel_names_of(MESHPARITY_KERNELS).size(), 30U);
  EXPECT_THAT(kernel_names_of(MESHPARITY_KERNELS),
              testing::IsSupersetOf({"AdamW", "Matmul", "TokenLoss"}));
}

TEST(KernelsLinked, EveryOneIsInstantiatedForTheHost) {
  EXPECT_THAT(missing(kernel_names_of(MESHPARITY_KERNELS), MESHPARITY_HOST_LIBRARY, kOnHost),
              testing::IsEmpty());
}

TEST(KernelsLinked, EveryOneIsInstantiatedForWarpsAndBlocksOfAGpu) {
  const std::string library = MESHPARITY_CUDA_LIBRARY;
  if (library.empty()) {
    GTEST_SKIP() << MESHPARITY_NO_CUDA;
  }
  for (const char* symbol : {kOnWarps, kOnBlocks, kLaunched}) {
    EXPECT_THAT(missing(kernel_names_of(MESHPARITY_KERNELS), library, symbol), testing::IsEmpty())
        << symbol;
  }
}

TEST(KernelsLinked, AKernelThatNoLibraryHasIsReportedForBothTypes) {
  const std::vector<std::string> found = kernel_names_in(
      "template <class T>\nstruct Unheard {\n  T* x;\n\n  int groups() const { return 1; }\n};\n");

  EXPECT_THAT(missing(found, MESHPARITY_HOST_LIBRARY, kOnHost),
              testing::ElementsAre("Unheard<double>", "Unheard<float>"));
}

}  // namespace
}  // namespace meshparity
