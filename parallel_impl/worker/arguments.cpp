#include "parallel_impl/worker/arguments.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/thread_world.hpp"

namespace meshparity {
namespace {

double seconds_from(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(seconds >= 0.01 && seconds <= 86400)) {
    throw UsageError(fmt::format("--time-limit {}: give seconds between 0.01 and 86400", text));
  }
  return seconds;
}

}  // namespace

WorkerArguments parse_worker_arguments(const std::vector<std::string>& words) {
  WorkerArguments arguments;
  double seconds = 5;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool valued = i + 1 < words.size();
    if (words[i] == "--help") {
      arguments.help = true;
    } else if (words[i] == "--jobs" && valued) {
      arguments.jobs = words[++i];
    } else if (words[i] == "--time-limit" && valued) {
      seconds = seconds_from(words[++i]);
    } else {
      throw UsageError(
          fmt::format("{}: expected --jobs FILE, --time-limit SECONDS or "
                      "--help",
                      words[i]));
    }
  }
  if (arguments.jobs.empty() && !arguments.help) {
    throw UsageError("no jobs given: --jobs FILE is required");
  }
  const auto limit = static_cast<long>(seconds * 1000.0 * kSlowness);
  arguments.time_limit = std::chrono::milliseconds(limit);
  return arguments;
}

}  // namespace meshparity
