#include <fmt/format.h>

#include "matrix/cli/exit_code.hpp"
#include "matrix/cli/layout_verbs.hpp"
#include "matrix/global_view.hpp"

namespace meshparity {

int assemble_dump(const std::filesystem::path& dump) {
  const GlobalView view = write_global_view(dump);
  for (const std::string& record : view.left_out) {
    fmt::print("left out: {}: a piece of it is no box\n", record);
  }
  fmt::print("{} records in {}, to be read in place: it holds no values of its own\n", view.records,
             view.file.string());
  return kExitConforms;
}

void add_assemble(CLI::App& app, std::filesystem::path& dump, std::function<int()>& chosen) {
  CLI::App& assemble =
      *app.add_subcommand("assemble", "global.h5 over the pieces of a dump, for people");
  assemble.add_option("DIR", dump, "folder with rank_0000.h5 and so on")->required();
  assemble.callback([&] { chosen = [&dump] { return assemble_dump(dump); }; });
}

}  // namespace meshparity
