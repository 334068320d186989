#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "matrix/expect/grid.hpp"
#include "matrix/plan.hpp"

namespace meshparity {
namespace {

using Json = nlohmann::ordered_json;

std::string layout_name(const CaseSpec& spec) {
  return format_mesh(spec.mesh) + (spec.sequence_parallel ? " sp" : "");
}

std::string layout_lines(const PlannedLayout& planned, std::size_t place) {
  std::string text = fmt::format("{:>3}. {:<20} {:>16} bytes a rank; {}\n", place,
                                 layout_name(planned.spec), planned.memory.total(), planned.reason);
  text += "    ";
  for (const std::string_view tag : expect::kDueTags) {
    text += fmt::format(" {} {}", tag, planned.memory.of(tag));
  }
  text += "\n";
  for (const AxisLoad& load : planned.loads) {
    text += fmt::format("     {:<3} {:>6} calls, {:>14} bytes of payload, {:>14.0f} sent\n",
                        load.payload.axis, load.payload.calls, load.payload.bytes, load.wire_bytes);
  }
  const ServingProcesses served = serving_processes(planned.spec);
  text += fmt::format(
      "     as a server: {} API servers + {} engine cores + {} workers + {} coordinators = {} "
      "processes\n",
      served.api_servers, served.engine_cores, served.workers, served.coordinators, served.total());
  return text;
}

Json layout_json(const PlannedLayout& planned) {
  Json loads = Json::array();
  for (const AxisLoad& load : planned.loads) {
    loads.push_back({{"axis", load.payload.axis},
                     {"calls", load.payload.calls},
                     {"bytes", load.payload.bytes},
                     {"wire_bytes", load.wire_bytes},
                     {"crosses_nodes", load.crosses_nodes}});
  }
  Json bytes;
  for (const std::string_view tag : expect::kDueTags) {
    bytes[std::string(tag)] = planned.memory.of(tag);
  }
  return {{"case", format_case(planned.spec)},
          {"fits", planned.fits},
          {"memory", bytes},
          {"memory_total", planned.memory.total()},
          {"traffic", loads},
          {"across_nodes", planned.across_nodes},
          {"within_nodes", planned.within_nodes},
          {"serving_processes", serving_processes(planned.spec).total()},
          {"reason", planned.reason}};
}

}  // namespace

std::string plan_text(const PlanQuestion& question, const Plan& plan) {
  std::string text = fmt::format(
      "{} on {} ranks, {} to a node, {} micro-batches, {}\nleast bytes across nodes first, then "
      "least in all, then least memory; bytes are of one rank and step\n\n",
      question.model.name, question.ranks,
      question.ranks_per_node > 0 ? question.ranks_per_node : question.ranks,
      question.micro_batches, precision_name(question.precision));
  for (std::size_t i = 0; i < plan.layouts.size(); ++i) {
    text += layout_lines(plan.layouts[i], i + 1);
  }
  for (const auto& [mesh, why] : plan.excluded) {
    text += fmt::format("not possible: {}: {}\n", mesh, why);
  }
  return text + "not considered, for want of formulas: pp, cp, ep, ZeRO, recomputation\n";
}

std::string plan_json(const PlanQuestion& question, const Plan& plan) {
  Json layouts = Json::array();
  for (const PlannedLayout& planned : plan.layouts) {
    layouts.push_back(layout_json(planned));
  }
  Json excluded = Json::array();
  for (const auto& [mesh, why] : plan.excluded) {
    excluded.push_back({{"mesh", mesh}, {"reason", why}});
  }
  return Json{{"model", question.model.name},
              {"ranks", question.ranks},
              {"layouts", layouts},
              {"excluded", excluded}}
             .dump(1) +
         "\n";
}

}  // namespace meshparity
