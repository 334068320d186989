// meshparity-worker: runs the cases of a job file with ranks as threads and writes their dumps.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/run_jobs.hpp"

namespace {

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr std::string_view kHelp =
    "meshparity-worker --jobs FILE [--time-limit SECONDS]\n"
    "Runs the cases of FILE (one JSON object a line) with ranks as threads and writes one dump "
    "file\n"
    "a rank. A rank waits for its peers for at most SECONDS (5) in which nothing moves.\n";

struct Arguments {
  std::string jobs;
  double time_limit = 5;
  bool help = false;
};

double seconds_from(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(seconds >= 0.01 && seconds <= 86400)) {
    throw meshparity::UsageError(
        fmt::format("--time-limit {}: give seconds between 0.01 and 86400", text));
  }
  return seconds;
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool valued = i + 1 < words.size();
    if (words[i] == "--help") {
      arguments.help = true;
    } else if (words[i] == "--jobs" && valued) {
      arguments.jobs = words[++i];
    } else if (words[i] == "--time-limit" && valued) {
      arguments.time_limit = seconds_from(words[++i]);
    } else {
      throw meshparity::UsageError(
          fmt::format("{}: expected --jobs FILE, --time-limit SECONDS or "
                      "--help",
                      words[i]));
    }
  }
  if (arguments.jobs.empty() && !arguments.help) {
    throw meshparity::UsageError("no jobs given: --jobs FILE is required");
  }
  return arguments;
}

int run(const Arguments& arguments) {
  if (arguments.help) {
    fmt::print("{}", kHelp);
    return kAllDone;
  }
  const auto limit = static_cast<long>(arguments.time_limit * 1000.0 * meshparity::kSlowness);
  const bool all_done =
      meshparity::run_jobs(meshparity::read_jobs(arguments.jobs), meshparity::train,
                           std::chrono::milliseconds(limit), std::cout);
  return all_done ? kAllDone : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse({argv + 1, argv + argc}));
  } catch (const meshparity::UsageError& error) {
    fmt::print(stderr, "meshparity-worker: {}\n", error.what());
    return kUsage;
  }
}
