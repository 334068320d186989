// Two dumps by equality: every record of both, element by element.
#pragma once
#include <functional>

#include "matrix/dump_set.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// More findings than this are counted, not listed.
inline constexpr std::size_t kListedDifferences = 100;

/// Which records are compared.
using RecordChoice = std::function<bool(const RecordKey& key)>;

/// The check "equal". Where both dumps hold the same pieces every piece is compared; otherwise one
/// copy of each record is put together on both sides. Throws UsageError when layouts differ and a
/// case id cannot be read.
CheckResult check_equal_dumps(
    const DumpSet& left, const DumpSet& right,
    const RecordChoice& chosen = [](const RecordKey&) { return true; });

}  // namespace meshparity
