// The recorder: copies what a rank computes into memory during the steps; files are written
// afterwards by one thread a process. It changes no bit of what it observes.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/record_table.hpp"

namespace meshparity {

/// Where a piece stands in the run and in its record. `shared_over`: axes with equal copies, "tp"
/// or "dp,tp".
struct PieceSite {
  int step = 0;
  int mb = 0;
  Placement placement;
  std::string_view shared_over;
};

/// One rank's recorder. Records the level does not hold are dropped without a copy.
class Recorder {
 public:
  Recorder(const std::vector<RecordSpec>& table, Level level, std::string computed_in);

  /// False when the level does not hold this record: lets a caller skip making a piece. Throws
  /// Error when the table has no such record at all.
  bool wants(Phase phase, std::string_view name) const;
  /// Values are a piece of record `name`; throws Error when the table has no such record or the
  /// count does not match the placement.
  void record(Phase phase, std::string_view name, PieceSite site, std::span<const double> values);
  void record(Phase phase, std::string_view name, PieceSite site, std::span<const float> values);
  void record_integers(Phase phase, std::string_view name, PieceSite site,
                       std::span<const std::int64_t> values);
  /// Level all only; "/local/<path>", for instance "step0/mlp.down/contribution/layer1/mb0".
  void record_local(const std::string& path, std::vector<std::int64_t> shape,
                    std::span<const double> values);
  bool wants_local() const { return level_ == Level::all; }

  /// Writes everything recorded; called by the process's one writing thread after the steps.
  void write(DumpWriter& writer) const;

 private:
  struct Held {
    Piece piece;
    std::vector<double> values;
    std::vector<std::int64_t> integers;
  };
  struct Local {
    std::string path;
    std::vector<std::int64_t> shape;
    std::vector<double> values;
  };
  const RecordSpec& find(Phase phase, std::string_view name) const;
  Piece describe(Phase phase, std::string_view name, PieceSite site) const;

  std::map<std::string, RecordSpec, std::less<>> by_name_;  // "forward/layer0.out"
  Level level_;
  std::string computed_in_;
  std::vector<Held> held_;
  std::vector<Local> local_;
};

}  // namespace meshparity
