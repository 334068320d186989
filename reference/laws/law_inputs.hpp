// What laws take from a candidate's step: its dumped numbers as the formulas name them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reference/laws/candidate_step.hpp"
#include "reference/laws/law.hpp"
#include "reference/problem.hpp"

namespace meshparity::reference {

struct LawCase {
  const Problem& problem;
  const CaseSpec& spec;  // the candidate's own: its precision decides roundoffs and masters
  Level level = Level::standard;  // operations are asked at level all only
};

/// Everything by the place of a parameter in the table. All but step() throw MissingInput.
class LawInputs {
 public:
  LawInputs(const LawCase& question, CandidateStep& dumped)
      : problem(question.problem), spec(question.spec), candidate(dumped) {}

  int step() const { return candidate.step(); }
  const std::vector<ParamSpec>& params() const { return problem.network.parameters(); }
  bool has_master() const;
  /// Whether there is a norm of all gradients: the stages of an asynchronous pipeline know none.
  bool clips() const;
  /// The parameter that the optimizer updates.
  Phase updated_phase() const { return has_master() ? Phase::master : Phase::param; }

  /// One for each parameter that is not tied to another, its tied copies' added.
  std::vector<std::vector<Wide>> distinct_gradients();
  /// Times the candidate's own clip coefficient; a tied copy's is its owner's.
  std::vector<Wide> clipped_gradient(std::size_t i);
  /// What the step began with: before step 0 the initial values, and moments of zero.
  std::vector<double> start(std::size_t i, Phase phase);
  /// The parameter that the step's forward pass read.
  std::vector<double> as_read(std::size_t i);
  std::int64_t steps_taken_before();

  const Problem& problem;
  const CaseSpec& spec;
  CandidateStep& candidate;

 private:
  std::vector<Wide> gradient(std::size_t i);
};

/// Adds the law that `fill` answers; where it misses an input, the law without values.
void add_law(std::vector<Law>& laws, LawRow row, const std::function<void(Law&)>& fill);

}  // namespace meshparity::reference
