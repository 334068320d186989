// For tests: one suite for every transport. A test runs a body on each rank of a small world and
// sees what each rank threw; where ranks are processes, a failed expectation counts as thrown.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "parallel_impl/comm/pending_calls.hpp"
#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {

struct RanksOutcome {
  std::vector<std::string> errors;  // of each rank; empty for one that returned
  std::optional<RankFailure> failure;
};

using OnRank = std::function<void(Comm&)>;

/// How a transport runs a body on the ranks of a fresh world.
using RunRanks = RanksOutcome (*)(int world, const OnRank& body, Completion when,
                                  std::chrono::milliseconds limit);

struct TransportCase {
  std::string_view name;  // "threads", "procs", "mpi"
  RunRanks run;
  Completion when;
};

RanksOutcome run_on_threads(int world, const OnRank& body, Completion when,
                            std::chrono::milliseconds limit);
RanksOutcome run_on_procs(int world, const OnRank& body, Completion when,
                          std::chrono::milliseconds limit);

/// On every transport that the program was built with, lazy and eager.
class Transport : public testing::TestWithParam<TransportCase> {
 protected:
  RanksOutcome run(int world, const OnRank& body,
                   std::chrono::milliseconds limit = kDefaultTimeLimit) const {
    return GetParam().run(world, body, GetParam().when, limit);
  }
  std::vector<std::string> errors(int world, const OnRank& body) const {
    return run(world, body).errors;
  }
};

inline void PrintTo(const TransportCase& each, std::ostream* out) {
  *out << each.name << (each.when == Completion::lazy ? "Lazy" : "Eager");
}
inline std::string name_of(const testing::TestParamInfo<TransportCase>& info) {
  return testing::PrintToString(info.param);
}

/// A body that is a process's own: a failed expectation in it is thrown as its rank's error.
inline void run_expecting(const OnRank& body, Comm& comm) {
  const bool failed_before = testing::Test::HasFailure();
  body(comm);
  if (testing::Test::HasFailure() && !failed_before) {
    throw Error("an expectation failed");
  }
}

}  // namespace meshparity
