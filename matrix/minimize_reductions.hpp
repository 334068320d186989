// The ways in which a case can become smaller by one thing (minimize.hpp walks them).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity {

/// A case that is smaller in one thing; it may be illegal.
struct Reduction {
  CaseSpec spec;
  std::string change;  // "without sp", "tp 4 -> 2"
};

/// One thing that can become smaller, and how, the smallest first.
using Reducer = std::function<std::vector<Reduction>(const CaseSpec& spec)>;

/// In the order of the search: features, degrees, model, steps, machine and precision. Events stay.
/// A degree that becomes 1 takes the features with it that need it.
std::vector<Reducer> all_reducers();

/// What the case has beyond a single process of its model at defaults, as words of its id: "tp2",
/// "sp", "fp32", "steps2" (the fewest steps are no feature).
std::vector<std::string> distinctive_words(const CaseSpec& spec);

/// The case with one unkind default switched off ("drop0"), for each that it has on.
struct KindCase {
  CaseSpec spec;
  std::string unkind;  // "dropout"
};
std::vector<KindCase> kind_cases(const CaseSpec& spec);

}  // namespace meshparity
