#include "matrix/equal_elements.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <future>
#include <thread>
#include <vector>

#include "fixtures/file_bytes.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kLanes = 8;       // independent sums, so that they are made side by side
constexpr std::size_t kBlock = 4096;    // elements looked at together
constexpr std::int64_t kChunk = 65536;  // elements a read

/// What a block holds, without saying where.
struct BlockCounts {
  std::uint64_t unequal = 0;
  std::uint64_t bits = 0;  // of the exclusive or of all pairs: 0 when both are the same bytes
  double largest = 0;
};

BlockCounts count_block(const double* left, const double* right, std::size_t count) {
  std::array<std::uint64_t, kLanes> unequal{};
  std::array<std::uint64_t, kLanes> bits{};
  std::array<double, kLanes> largest{};
  const auto look = [&](std::size_t i, std::size_t lane) {
    const double difference = std::abs(left[i] - right[i]);
    unequal[lane] += left[i] == right[i] ? 0 : 1;
    bits[lane] |= std::bit_cast<std::uint64_t>(left[i]) ^ std::bit_cast<std::uint64_t>(right[i]);
    largest[lane] = difference > largest[lane] ? difference : largest[lane];  // NaN is passed over
  };
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      look(i + lane, lane);
    }
  }
  for (; i < count; ++i) {
    look(i, 0);
  }
  BlockCounts counts;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    counts.unequal += unequal[lane];
    counts.bits |= bits[lane];
    counts.largest = std::max(counts.largest, largest[lane]);
  }
  return counts;
}

std::int64_t count_signed_zeros(const double* left, const double* right, std::size_t count) {
  std::int64_t zeros = 0;
  for (std::size_t i = 0; i < count; ++i) {
    zeros += left[i] == right[i] && std::signbit(left[i]) != std::signbit(right[i]) ? 1 : 0;
  }
  return zeros;
}

std::size_t first_unequal(const double* left, const double* right) {
  std::size_t i = 0;
  while (left[i] == right[i]) {
    ++i;
  }
  return i;
}

/// One thread's share: every chunk whose turn it is.
Equality compare_chunks(const FileRange& left, const FileRange& right, std::int64_t count,
                        std::atomic<std::int64_t>& next) {
  const FileBytes left_file(left.file);
  const FileBytes right_file(right.file);
  std::vector<double> a(kChunk);
  std::vector<double> b(kChunk);
  Equality found;
  for (std::int64_t at = next.fetch_add(kChunk); at < count; at = next.fetch_add(kChunk)) {
    const auto size = static_cast<std::size_t>(std::min(kChunk, count - at));
    const std::int64_t bytes = at * static_cast<std::int64_t>(sizeof(double));
    left_file.read(left.offset + bytes, std::as_writable_bytes(std::span(a).first(size)));
    right_file.read(right.offset + bytes, std::as_writable_bytes(std::span(b).first(size)));
    found.add(compare_elements(std::span(a).first(size), std::span(b).first(size), at));
  }
  return found;
}

}  // namespace

void Equality::add(const Equality& other) {
  compared += other.compared;
  different += other.different;
  signed_zeros += other.signed_zeros;
  largest = std::max(largest, other.largest);
  if (other.first >= 0 && (first < 0 || other.first < first)) {
    first = other.first;
    first_left = other.first_left;
    first_right = other.first_right;
  }
}

Equality compare_elements(std::span<const double> left, std::span<const double> right,
                          std::int64_t offset) {
  Equality found;
  found.compared = std::ssize(left);
  for (std::size_t at = 0; at < left.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, left.size() - at);
    const double* a = left.data() + at;
    const double* b = right.data() + at;
    const BlockCounts counts = count_block(a, b, count);
    found.different += static_cast<std::int64_t>(counts.unequal);
    found.largest = std::max(found.largest, counts.largest);
    if ((counts.bits >> 63) != 0) {
      found.signed_zeros += count_signed_zeros(a, b, count);
    }
    if (counts.unequal > 0 && found.first < 0) {
      const std::size_t i = at + first_unequal(a, b);
      found.first = offset + static_cast<std::int64_t>(i);
      found.first_left = left[i];
      found.first_right = right[i];
    }
  }
  return found;
}

Equality compare_ranges(const FileRange& left, const FileRange& right, std::int64_t count) {
  const std::int64_t chunks = (count + kChunk - 1) / kChunk;
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::int64_t> next = 0;
  std::vector<std::future<Equality>> shares;
  for (std::int64_t t = 1; t < std::min(cores, chunks); ++t) {
    shares.push_back(
        std::async(std::launch::async, [&] { return compare_chunks(left, right, count, next); }));
  }
  Equality found = compare_chunks(left, right, count, next);
  for (std::future<Equality>& share : shares) {
    found.add(share.get());
  }
  return found;
}

}  // namespace meshparity
