// meshparity-worker: runs the cases of a job file with ranks as threads and writes their dumps.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "fixtures/error.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/run_jobs.hpp"

namespace {

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;

struct Arguments {
  std::string jobs;
  double time_limit = 5;  // seconds in which nothing moves; sanitizers get more
};

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("--jobs", arguments.jobs, "File of jobs, one JSON object a line")->required();
  app.add_option("--time-limit", arguments.time_limit,
                 "Seconds for which a rank waits while nothing moves")
      ->check(CLI::Range(0.01, 86400.0));
}

int run(const Arguments& arguments) {
  const auto milliseconds =
      static_cast<long>(arguments.time_limit * 1000.0 * meshparity::kSlowness);
  const bool all_done =
      meshparity::run_jobs(meshparity::read_jobs(arguments.jobs), meshparity::train,
                           std::chrono::milliseconds(milliseconds), std::cout);
  return all_done ? kAllDone : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs cases with ranks as threads and writes one dump file a rank.",
               "meshparity-worker");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    return run(arguments);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "meshparity-worker: {}\n", error.what());
    return kUsage;
  } catch (const meshparity::UsageError& error) {
    fmt::print(stderr, "meshparity-worker: {}\n", error.what());
    return kUsage;
  }
}
