#include "parallel_impl/case_run.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "fixtures/error.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/record_table.hpp"
#include "fixtures/step_place.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/load_case.hpp"
#include "parallel_impl/worker/run_case.hpp"

namespace meshparity {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "case_run_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error("making a temporary folder");
    }
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// One record while its pieces arrive.
struct Assembly {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  std::vector<char> covered;
};

class Assembler {
 public:
  Assembler(const std::vector<RecordSpec>& table, int steps, CaseRun& run) : run_(run) {
    for (int step = 0; step < steps; ++step) {
      for (const RecordSpec& record : table) {
        const auto count = static_cast<std::size_t>(element_count(whole(record.shape)));
        open_[key(step, record.phase, record.name)] = {record.shape, std::vector<double>(count),
                                                       std::vector<char>(count)};
      }
    }
  }

  void take(const Piece& piece, const std::vector<double>& values) {
    const std::string name = key(piece.step, piece.phase, piece.record);
    std::size_t next = 0;
    if (const auto* const flat = std::get_if<FlatPlacement>(&piece.placement)) {
      return place_range(name, *flat, values);
    }
    for (const Box& box : std::get<BoxPlacement>(piece.placement).boxes) {
      place(name, box,
            std::span(values).subspan(next, static_cast<std::size_t>(element_count(box))));
      next += static_cast<std::size_t>(element_count(box));
    }
  }

  void finish() {
    for (auto& [name, assembly] : open_) {
      const auto holes = std::count(assembly.covered.begin(), assembly.covered.end(), 0);
      if (holes == 0) {
        run_.records[name] = std::move(assembly.values);
      } else if (static_cast<std::size_t>(holes) < assembly.covered.size()) {
        run_.complaints.push_back(fmt::format("{}: {} holes", name, holes));
      }
    }
  }

 private:
  static std::string key(int step, Phase phase, const std::string& name) {
    return fmt::format("step{}/{}/{}", step, phase_name(phase), name);
  }

  void place(const std::string& name, const Box& box, std::span<const double> values) {
    Assembly& assembly = open_.at(name);
    std::vector<std::int64_t> index = box.start;
    for (const double value : values) {
      put(name, assembly, index, value);
      for (std::size_t dim = index.size(); dim-- > 0;) {
        if (++index[dim] < box.start[dim] + box.extent[dim]) {
          break;
        }
        index[dim] = box.start[dim];
      }
    }
  }

  void place_range(const std::string& name, const FlatPlacement& flat,
                   std::span<const double> values) {
    for (std::int64_t at = flat.lo; at < flat.hi; ++at) {
      std::vector<std::int64_t> index = flat.box.start;
      std::int64_t rest = at;
      for (std::size_t dim = index.size(); dim-- > 0;) {
        index[dim] += rest % flat.box.extent[dim];
        rest /= flat.box.extent[dim];
      }
      put(name, open_.at(name), index, values[static_cast<std::size_t>(at - flat.lo)]);
    }
  }

  void put(const std::string& name, Assembly& assembly, const std::vector<std::int64_t>& index,
           double value) {
    std::int64_t flat = 0;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      flat = flat * assembly.shape.at(dim) + index[dim];
    }
    const auto at = static_cast<std::size_t>(flat);
    if (assembly.covered.at(at) && std::memcmp(&assembly.values[at], &value, sizeof value) != 0) {
      run_.complaints.push_back(fmt::format("{}: unequal copies at {}", name, flat));
    }
    assembly.values[at] = value;
    assembly.covered[at] = 1;
  }

  CaseRun& run_;
  std::map<std::string, Assembly> open_;
};

void read_rank(const std::filesystem::path& file, Assembler& assembler, CaseRun& run) {
  const DumpReader reader(file);
  for (const Piece& piece : reader.pieces()) {
    assembler.take(piece, reader.read(piece));
  }
  run.collectives.push_back(reader.ledgers().collectives);
  run.memory.push_back(reader.ledgers().memory);
  run.actions.push_back(reader.ledgers().actions);
  std::map<std::string, std::vector<double>> locals;
  for (const std::string& path : reader.local_paths()) {
    locals[path] = reader.read_local(path);
  }
  run.locals.push_back(std::move(locals));
}

/// As load_case, but lets a case through that only later parts of the program build.
LoadedCase loaded_case(const Job& job) {
  CaseSpec spec = parse_case(job.case_id);
  ModelSpec model = load_named_model(job.models, spec.model);
  RawInputs inputs(model, spec, nullptr);
  return {job, std::move(spec), std::move(model), std::move(inputs)};
}

}  // namespace

CaseRun run_whole_case(const std::string& case_id, Level level, const RankBody& body) {
  const TemporaryFolder folder;
  Job job;
  job.case_id = case_id;
  job.out = folder.path();
  job.level = level;
  job.models = MESHPARITY_MODELS;
  const LoadedCase loaded = loaded_case(job);
  const CaseEvidence evidence = run_case(loaded, body, kDefaultTimeLimit);
  if (evidence.failure) {
    throw Error(evidence.failure->what);
  }
  write_dump(job, evidence);
  CaseRun run;
  Assembler assembler(record_table(loaded.model, loaded.spec), step_count(loaded.spec), run);
  for (int rank = 0; rank < loaded.spec.mesh.world_size(); ++rank) {
    read_rank(folder.path() / rank_file_name(rank), assembler, run);
  }
  assembler.finish();
  return run;
}

std::vector<std::string> differing(const CaseRun& a, const CaseRun& b, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [name, values] : a.records) {
    if (name.starts_with(prefix)) {
      const auto other = b.records.find(name);
      if (other == b.records.end() || values != other->second) {
        names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace meshparity
