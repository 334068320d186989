#include "matrix/rebase_once.hpp"

#include <fmt/format.h>

#include "fixtures/error.hpp"
#include "matrix/rebase_state.hpp"
#include "matrix/rebasing.hpp"

namespace meshparity {

std::filesystem::path rebase_once(const CaseSpec& spec, const DumpSet& reference,
                                  const DumpSet& candidate, const RebaseSetup& setup) {
  if (!std::filesystem::is_regular_file(setup.program)) {
    throw Error(fmt::format("the program {} is not there", setup.program.string()));
  }
  Job job;
  job.case_id = format_case(spec);
  job.out = setup.folder;
  job.state = setup.folder / "state.h5";
  job.level = setup.level;
  job.text = setup.text;
  job.models = setup.models;
  job.commit = candidate.header().commit;
  write_state(spec, reference, candidate, job.state);

  LaunchOutcome outcome;
  Rebasing rebasing({setup.program, setup.folder, 1, {}, {}}, [](const std::string&) {});
  rebasing.give({[&] { return job; }, [&](const LaunchOutcome& ended) { outcome = ended; }});
  rebasing.finish();
  if (!outcome.finished) {
    throw Error(outcome.what);
  }
  return setup.folder / rank_file_name(0);
}

}  // namespace meshparity
