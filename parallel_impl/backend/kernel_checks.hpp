// What came of comparing launches: one line a kernel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

namespace meshparity {

enum class Scalar { wide, narrow };

/// Bytes before and after each buffer that no kernel may change.
inline constexpr std::size_t kGuardBytes = 256;
inline constexpr std::byte kGuard{0xA5};

struct KernelRow {
  std::int64_t comparisons = 0;
  double worst = 0;             // difference over limit; NaN where only one side is NaN
  std::int64_t beyond = 0;      // elements beyond the limit
  std::int64_t trespasses = 0;  // buffers whose guards were changed
};

/// One buffer with its guards, as two machines leave it.
struct TwoSides {
  std::span<const std::byte> gpu;
  std::span<const std::byte> host;
  /// Of differences: no sum of a kernel has more terms than its largest buffer has elements, and no
  /// term is larger than `magnitude`, so both sides lie within terms x epsilon x magnitude. A lane
  /// that is lost or counted twice lies far beyond in most elements; what a product may lose is
  /// judged by the matrix, not here.
  double terms = 0;
  double magnitude = 0;
};

/// The largest magnitude in a buffer of this type, guards left out; what is not finite is left out.
double largest_magnitude(std::span<const std::byte> guarded, Scalar scalar);

class KernelChecks {
 public:
  void compare(const std::string& kernel, Scalar scalar, const TwoSides& sides);
  /// By kernel: "AdamW<double>".
  std::map<std::string, KernelRow> rows() const;
  bool all_good() const;

 private:
  mutable std::mutex lock_;
  std::map<std::string, KernelRow> rows_;
};

/// A line a kernel, the worst first.
std::string format_checks(const std::map<std::string, KernelRow>& rows);

}  // namespace meshparity
