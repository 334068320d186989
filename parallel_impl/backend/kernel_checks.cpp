#include "parallel_impl/backend/kernel_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace meshparity {
namespace {

template <class T>
std::vector<double> values_as(std::span<const std::byte> guarded) {
  const std::size_t count = (guarded.size() - 2 * kGuardBytes) / sizeof(T);
  std::vector<T> values(count);
  if (count > 0) {
    std::memcpy(values.data(), guarded.data() + kGuardBytes, count * sizeof(T));
  }
  return {values.begin(), values.end()};
}

std::vector<double> values_of(std::span<const std::byte> guarded, Scalar scalar) {
  return scalar == Scalar::wide ? values_as<double>(guarded) : values_as<float>(guarded);
}

bool is_guard(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each == kGuard; });
}

bool is_equal(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

double largest_magnitude(std::span<const std::byte> guarded, Scalar scalar) {
  double largest = 0;
  for (const double value : values_of(guarded, scalar)) {
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  return largest;
}

void KernelChecks::compare(const std::string& kernel, Scalar scalar, const TwoSides& sides) {
  const double epsilon = scalar == Scalar::wide ? std::numeric_limits<double>::epsilon()
                                                : std::numeric_limits<float>::epsilon();
  const double limit = sides.terms * epsilon * sides.magnitude;
  const bool same = std::memcmp(sides.gpu.data(), sides.host.data(), sides.gpu.size()) == 0;
  const std::vector<double> gpu = same ? std::vector<double>() : values_of(sides.gpu, scalar);
  const std::vector<double> host = same ? std::vector<double>() : values_of(sides.host, scalar);
  const std::lock_guard lock(lock_);
  KernelRow& row = rows_[kernel];
  ++row.comparisons;
  row.trespasses +=
      is_guard(sides.gpu.first(kGuardBytes)) && is_guard(sides.gpu.last(kGuardBytes)) ? 0 : 1;
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    if (is_equal(gpu[i], host[i])) {
      continue;
    }
    const double difference = std::abs(gpu[i] - host[i]);
    row.beyond += difference <= limit ? 0 : 1;
    row.worst = difference / limit <= row.worst ? row.worst : difference / limit;
  }
}

std::map<std::string, KernelRow> KernelChecks::rows() const {
  const std::lock_guard lock(lock_);
  return rows_;
}

bool KernelChecks::all_good() const {
  const std::map<std::string, KernelRow> rows = this->rows();
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const auto& each) {
    return each.second.beyond == 0 && each.second.trespasses == 0;
  });
}

std::string format_checks(const std::map<std::string, KernelRow>& rows) {
  std::vector<std::pair<std::string, KernelRow>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.beyond + a.second.trespasses > b.second.beyond + b.second.trespasses;
  });
  std::string text = fmt::format("{:<36} {:>9} {:>12} {:>8} {:>10}\n", "kernel", "compared",
                                 "error/limit", "beyond", "trespasses");
  for (const auto& [name, row] : sorted) {
    text += fmt::format("{:<36} {:>9} {:>12.3g} {:>8} {:>10}\n", name, row.comparisons, row.worst,
                        row.beyond, row.trespasses);
  }
  return text;
}

}  // namespace meshparity
