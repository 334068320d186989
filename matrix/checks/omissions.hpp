// What was not compared, and why: gathered over a case, said once for each reason. Nothing is left
// out in silence.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "matrix/dump_set.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

class Omissions {
 public:
  /// `gravity` conforms: a note. Inconclusive: a finding.
  void add(const std::string& check, Verdict gravity, const std::string& reason,
           const RecordKey& record);
  /// Adds the notes and findings of one check to its result.
  void report(CheckResult& result) const;

 private:
  struct Reason {
    std::string check;
    Verdict gravity = Verdict::conforms;
    std::string text;
    auto operator<=>(const Reason&) const = default;
  };
  std::map<Reason, std::vector<RecordKey>> records_;
};

}  // namespace meshparity
