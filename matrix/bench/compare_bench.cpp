// Measures `compare` against h5diff, side by side in one run: two dumps of one 512 MiB record with
// one element in eight different, and two dumps of 10,000 records of 64 numbers. Prints medians,
// ratios and peak memory. Usage: compare_bench FOLDER [ROUNDS]; the folder needs 1.1 GB.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "matrix/compare_dumps.hpp"

namespace meshparity {
namespace {

struct Sizes {
  std::string name;
  std::int64_t records = 1;
  std::int64_t elements = 1;
};

struct Measured {
  double seconds = 0;
  double megabytes = 0;  // peak of the process that compared
};

/// Runs `work` in a process of its own, so that its memory is seen alone.
Measured in_child(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0) {
    throw Error("a measured process failed");
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return {elapsed.count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

void write_dump(const std::filesystem::path& file, const Sizes& sizes, double change) {
  DumpHeader header;
  header.case_id = "gpt-tiny.single.plain.fp64.host-threads";
  DumpWriter writer(file, header);
  std::vector<double> values(static_cast<std::size_t>(sizes.elements));
  for (std::int64_t r = 0; r < sizes.records; ++r) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1 + static_cast<double>(i % 1000) + (i % 8 == 7 ? change : 0);
    }
    Piece piece;
    piece.record = fmt::format("r{:05}", r);
    piece.order = r;
    piece.placement = whole(std::vector<std::int64_t>{sizes.elements});
    writer.write(piece, values);
  }
  writer.complete();
}

/// h5diff with a tolerance above the change, so that it reports nothing.
void run_h5diff(const std::filesystem::path& left, const std::filesystem::path& right) {
  ::execlp("h5diff", "h5diff", "-q", "-d", "1e-3", left.c_str(), right.c_str(), "/step0",
           static_cast<char*>(nullptr));
  ::_exit(127);
}

Measured median(std::vector<Measured> rounds) {
  std::sort(rounds.begin(), rounds.end(),
            [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  return rounds[rounds.size() / 2];
}

void measure(const std::filesystem::path& folder, const Sizes& sizes, int rounds) {
  const std::filesystem::path left = folder / (sizes.name + "_left.h5");
  const std::filesystem::path right = folder / (sizes.name + "_right.h5");
  for (const auto& [file, change] : {std::pair(left, 0.0), std::pair(right, 1e-6)}) {
    std::filesystem::remove(file);
    in_child([&, to = file, by = change] { write_dump(to, sizes, by); });
  }
  std::vector<Measured> ours;
  std::vector<Measured> theirs;
  for (int round = 0; round < rounds; ++round) {
    theirs.push_back(in_child([&] { run_h5diff(left, right); }));
    ours.push_back(in_child([&] {
      const Comparison found = compare_dumps(left, right, {true, false});
      const bool right_answer = found.verdict == Verdict::diverges;
      ::_exit(right_answer ? 0 : 1);
    }));
  }
  const Measured own = median(ours);
  const Measured other = median(theirs);
  fmt::print("{:<6} compare {:.3f} s, {:.0f} MB; h5diff -d {:.3f} s, {:.0f} MB; {:.2f} x as fast\n",
             sizes.name, own.seconds, own.megabytes, other.seconds, other.megabytes,
             other.seconds / own.seconds);
  std::filesystem::remove(left);
  std::filesystem::remove(right);
}

}  // namespace
}  // namespace meshparity

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: compare_bench FOLDER [ROUNDS]\n");
    return 2;
  }
  try {
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
    meshparity::measure(argv[1], {"large", 1, std::int64_t{64} << 20}, rounds);
    meshparity::measure(argv[1], {"small", 10000, 64}, rounds);
  } catch (const meshparity::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
