// For tests: a rebased reference written by hand, as meshparity-reference --rebase would leave it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {

class MadeRebased {
 public:
  explicit MadeRebased(const MadeCase& made)
      : file_(made.folder() / "rebased.h5"), writer_(file_, header_of(made)) {}

  MadeRebased& record(int step, Phase phase, const std::string& name, std::vector<double> values) {
    Piece piece;
    piece.record = name;
    piece.phase = phase;
    piece.step = step;
    piece.placement = whole(std::vector<std::int64_t>{std::ssize(values)});
    writer_.write(piece, values);
    return *this;
  }
  MadeRebased& law(int step, Phase phase, const std::string& name, LawValues values) {
    writer_.write_law({"made", name, phase, step, "2 u |x|", ""}, values);
    return *this;
  }
  MadeRebased& undecided(int step, Phase phase, const std::string& name) {
    writer_.write_law({"made", name, phase, step, "", "grad w of step 0"}, {});
    return *this;
  }
  std::filesystem::path finish() {
    writer_.complete();
    return file_;
  }

 private:
  static DumpHeader header_of(const MadeCase& made) {
    DumpHeader header;
    header.case_id = format_case(made.spec);
    return header;
  }

  std::filesystem::path file_;
  DumpWriter writer_;
};

}  // namespace meshparity
