#include "reference/laws/candidate_step.hpp"

#include <fmt/format.h>

namespace meshparity::reference {

CandidateStep::CandidateStep(const DumpReader& dump, int step) : dump_(dump), step_(step) {
  const std::vector<std::string> locals = dump.local_paths();
  locals_.insert(locals.begin(), locals.end());
  for (const Piece& piece : dump.pieces()) {
    pieces_.emplace(Key(piece.step, {piece.phase, piece.record}), &piece);
  }
}

const std::vector<double>& CandidateStep::after(int step, Phase phase, const std::string& record) {
  const Key key = {step, {phase, record}};
  const auto found = held_.find(key);
  if (found != held_.end()) {
    return found->second;
  }
  const auto piece = pieces_.find(key);
  if (piece == pieces_.end()) {
    throw MissingInput(fmt::format("{} {} of step {}", phase_name(phase), record, step));
  }
  return held_.emplace(key, dump_.read(*piece->second)).first->second;
}

const std::vector<double>& CandidateStep::now(Phase phase, const std::string& record) {
  return after(step_, phase, record);
}

const std::vector<double>& CandidateStep::before(Phase phase, const std::string& record) {
  return after(step_ - 1, phase, record);
}

std::vector<std::vector<double>> CandidateStep::contributions(Phase phase,
                                                              const std::string& record) const {
  std::vector<std::vector<double>> ranks;
  while (true) {
    const std::string path =
        fmt::format("contribution/{}/{}/step{}/{}", phase_name(phase), record, step_, ranks.size());
    if (!locals_.contains(path)) {
      return ranks;
    }
    ranks.push_back(dump_.read_local(path));
  }
}

double CandidateStep::number_now(Phase phase, const std::string& record) {
  return now(phase, record).at(0);
}

}  // namespace meshparity::reference
