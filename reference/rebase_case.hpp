// For tests: a reference's own dump as a candidate's states, clean or altered by hand, and the laws
// that it breaks.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/scratch_folder.hpp"
#include "reference/rebase.hpp"
#include "reference/run_job.hpp"

namespace meshparity::reference {

inline std::string id_of(const std::string& features) {
  return "gpt-micro.single." + features + ".fp64.host-threads";
}

using Values = std::vector<double>;
/// Returns false to leave the record out.
using Edit = std::function<bool(const Piece& piece, Values& values)>;

/// What a copy holds beside the pieces.
using Addition = std::function<void(const DumpReader& from, DumpWriter& to)>;

inline bool is(const Piece& piece, int step, Phase phase, const std::string& record) {
  return piece.step == step && piece.phase == phase && piece.record == record;
}

/// A case with its reference, and altered copies of that.
class RebaseCase {
 public:
  explicit RebaseCase(const std::string& id, Level level = Level::standard)
      : id_(id), level_(level) {
    run_job(job("clean", {}), 1);
  }

  std::filesystem::path clean() const { return scratch_.path() / "clean" / rank_file_name(0); }

  std::filesystem::path altered(const std::string& name, const Edit& edit,
                                const Addition& add = {}) const {
    const std::filesystem::path file = scratch_ / (name + ".h5");
    const DumpReader from(clean());
    DumpWriter to(file, from.header());
    for (const Piece& piece : from.pieces()) {
      if (piece.type == ElementType::int64) {
        to.write_integers(piece, from.read_integers(piece));
        continue;
      }
      Values values = from.read(piece);
      if (edit(piece, values)) {
        to.write(piece, values);
      }
    }
    if (add) {
      add(from, to);
    }
    to.complete();
    return file;
  }

  std::filesystem::path rebase(const std::string& name, const std::filesystem::path& state,
                               RebasedSteps& known) const {
    rebase_job(job("rebased-" + name, state), 1, known);
    return scratch_.path() / ("rebased-" + name) / rank_file_name(0);
  }
  std::filesystem::path rebase(const std::string& name, const std::filesystem::path& state) const {
    RebasedSteps known;
    return rebase(name, state, known);
  }

 private:
  Job job(const std::string& out, const std::filesystem::path& state) const {
    Job job;
    job.case_id = id_;
    job.out = scratch_ / out;
    job.models = MESHPARITY_MODELS;
    job.state = state;
    job.level = level_;
    std::filesystem::create_directory(job.out);
    return job;
  }

  ScratchFolder scratch_;
  std::string id_;
  Level level_;
};

inline std::optional<Values> record_of(const DumpReader& dump, int step, Phase phase,
                                       const std::string& record) {
  for (const Piece& piece : dump.pieces()) {
    if (is(piece, step, phase, record)) {
      return dump.read(piece);
    }
  }
  return std::nullopt;
}

/// "update embed.weight step 2" for each law that the candidate breaks; NaN breaks.
inline std::set<std::string> broken(const std::filesystem::path& rebased,
                                    const std::filesystem::path& candidate) {
  const DumpReader laws(rebased);
  const DumpReader held(candidate);
  std::set<std::string> names;
  for (const LawRow& law : laws.laws()) {
    const LawValues demand = laws.read_law(law);
    const Values values = record_of(held, law.step, law.phase, law.record).value();
    EXPECT_EQ(values.size(), demand.expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(std::abs(values[i] - demand.expected[i]) <= demand.limit[i])) {
        names.insert(law.law + " " + law.record + " step " + std::to_string(law.step));
      }
    }
  }
  return names;
}

/// What breaks when the clean case is altered so.
inline std::set<std::string> broken_by(const std::string& features, const Edit& edit) {
  const RebaseCase made(id_of(features));
  const auto candidate = made.altered("altered", edit);
  return broken(made.rebase("altered", candidate), candidate);
}

}  // namespace meshparity::reference
