// For tests: a case whose dumps are written by hand. The reference holds the records given; the
// candidate's ranks hold the pieces given; what is not said is as a conforming run would have it.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "matrix/judge.hpp"

namespace meshparity {

struct MadeRecord {
  RecordSpec spec;
  int step = 0;
  std::vector<double> values;
  double noise = 1e-8;  // fp32 sigma of every element; 0: exact
  bool companion = true;
};

struct MadePiece {
  int rank = 0;
  std::string record;
  Placement placement;
  std::string shared_over;
  std::optional<std::vector<double>> values;          // none: the reference's at that place
  std::optional<std::vector<std::int64_t>> integers;  // of an integer record, where exact
  int step = 0;
  int mb = 0;
  std::optional<ElementType> type;  // none: the record's
};

/// Lives in a folder of its own, which goes with it.
class MadeCase {
 public:
  /// `id` as in contracts.md §1.
  explicit MadeCase(const std::string& id);
  ~MadeCase();
  MadeCase(const MadeCase&) = delete;
  MadeCase& operator=(const MadeCase&) = delete;

  MadeRecord& add(std::string name, std::vector<std::int64_t> shape, std::vector<double> values);
  MadePiece& give(int rank, const std::string& record, Placement placement,
                  std::string shared_over = "");
  /// Writes both dumps and companions, and judges.
  CaseReport judge();
  /// Writes what judge() would look at.
  Evidence write();

  std::filesystem::path folder() const { return folder_; }
  CaseSpec spec;
  Level level = Level::standard;
  Level reference_level = Level::all;
  std::string reference_id;  // default: the case's own
  bool with_companions = true;
  std::function<void(int rank, DumpHeader&)> edit_header;  // of the candidate
  std::function<void(int rank, Ledgers&)> edit_ledgers;
  std::function<void(int rank, DumpWriter&)> add_local;  // what stands under /local
  std::vector<int> absent;                               // ranks whose file is not written
  std::vector<int> torn;                                 // ranks whose file is not completed

 private:
  const MadeRecord& find(const std::string& name, int step) const;
  void write_reference(const std::filesystem::path& dump) const;
  void write_companions_file(const std::filesystem::path& file) const;
  void write_rank(const std::filesystem::path& dump, int rank) const;
  DumpHeader header_of(int rank) const;
  Ledgers ledgers_of(int rank) const;

  std::filesystem::path folder_;
  std::vector<MadeRecord> records_;
  std::vector<MadePiece> pieces_;
};

/// The check of that name; the report has it.
const CheckResult& result_of(const CaseReport& report, const std::string& check);
/// The finding to headline; throws Error when there is none.
Finding cause_of(const CaseReport& report);
/// "coverage forward x: text" of every finding, for messages of failed expectations.
std::string findings_text(const CaseReport& report);

}  // namespace meshparity
