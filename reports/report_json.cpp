#include "reports/report_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return value;
}

double number_from(const Json& json) {
  if (json.is_number()) {
    return json.get<double>();
  }
  const std::string text = json.get<std::string>();
  if (text == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text == "inf" || text == "-inf") {
    return text == "inf" ? std::numeric_limits<double>::infinity()
                         : -std::numeric_limits<double>::infinity();
  }
  throw UsageError(fmt::format("\"{}\" is no number", text));
}

Verdict verdict_from(const Json& json) {
  for (const Verdict verdict : {Verdict::conforms, Verdict::inconclusive, Verdict::diverges}) {
    if (json == verdict_name(verdict)) {
      return verdict;
    }
  }
  throw UsageError(fmt::format("{} is no verdict", json.dump()));
}

Json to_json(const Finding& finding) {
  return {{"gravity", verdict_name(finding.gravity)},
          {"check", finding.check},
          {"record", finding.record},
          {"phase", phase_name(finding.phase)},
          {"step", finding.step},
          {"mb", finding.mb},
          {"order", finding.order},
          {"rank", finding.rank},
          {"coordinate", finding.coordinate},
          {"index", finding.index},
          {"piece_index", finding.piece_index},
          {"has_values", finding.has_values},
          {"reference", number(finding.reference)},
          {"candidate", number(finding.candidate)},
          {"error_ulp", number(finding.error_ulp)},
          {"error_relative", number(finding.error_relative)},
          {"ratio", number(finding.ratio)},
          {"limit", number(finding.limit)},
          {"derivation", finding.derivation},
          {"text", finding.text},
          {"follows_from", finding.follows_from}};
}

Finding finding_from(const Json& json) {
  Finding finding;
  finding.gravity = verdict_from(json.at("gravity"));
  finding.check = json.at("check");
  finding.record = json.at("record");
  finding.phase = phase_from_name(json.at("phase").get<std::string>());
  finding.step = json.at("step");
  finding.mb = json.at("mb");
  finding.order = json.at("order");
  finding.rank = json.at("rank");
  finding.coordinate = json.at("coordinate");
  finding.index = json.at("index").get<std::vector<std::int64_t>>();
  finding.piece_index = json.at("piece_index").get<std::vector<std::int64_t>>();
  finding.has_values = json.at("has_values");
  finding.reference = number_from(json.at("reference"));
  finding.candidate = number_from(json.at("candidate"));
  finding.error_ulp = number_from(json.at("error_ulp"));
  finding.error_relative = number_from(json.at("error_relative"));
  finding.ratio = number_from(json.at("ratio"));
  finding.limit = number_from(json.at("limit"));
  finding.derivation = json.at("derivation");
  finding.text = json.at("text");
  finding.follows_from = json.at("follows_from");
  return finding;
}

Json to_json(const Margin& margin) {
  return {{"record", margin.record},
          {"phase", phase_name(margin.phase)},
          {"step", margin.step},
          {"statistic", std::string(1, margin.statistic)},
          {"margin", number(margin.margin)},
          {"sees", number(margin.sees)}};
}

Margin margin_from(const Json& json) {
  Margin margin;
  margin.record = json.at("record");
  margin.phase = phase_from_name(json.at("phase").get<std::string>());
  margin.step = json.at("step");
  margin.statistic = json.at("statistic").get<std::string>().at(0);
  margin.margin = number_from(json.at("margin"));
  margin.sees = number_from(json.at("sees"));
  return margin;
}

Json to_json(const AxisTraffic& traffic) {
  return {{"axis", traffic.axis}, {"calls", traffic.calls}, {"bytes", traffic.bytes}};
}

AxisTraffic traffic_from(const Json& json) {
  return {json.at("axis"), json.at("calls"), json.at("bytes")};
}

Json to_json(const CheckResult& check);

template <class T>
Json list_to_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) {
    list.push_back(to_json(value));
  }
  return list;
}

Json to_json(const CheckResult& check) {
  return {{"check", check.check},
          {"verdict", verdict_name(check.verdict)},
          {"evidence", check.evidence},
          {"compared", check.compared},
          {"notes", check.notes},
          {"findings", list_to_json(check.findings)},
          {"margins", list_to_json(check.margins)},
          {"traffic", list_to_json(check.traffic)}};
}

CheckResult check_from(const Json& json) {
  CheckResult check;
  check.check = json.at("check");
  check.verdict = verdict_from(json.at("verdict"));
  check.evidence = json.at("evidence");
  check.compared = json.at("compared");
  check.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json& finding : json.at("findings")) {
    check.findings.push_back(finding_from(finding));
  }
  for (const Json& margin : json.at("margins")) {
    check.margins.push_back(margin_from(margin));
  }
  for (const Json& traffic : json.at("traffic")) {
    check.traffic.push_back(traffic_from(traffic));
  }
  return check;
}

Json to_json(const CaseReport& report) {
  return {{"case", report.case_id},
          {"relation", report.relation},
          {"partner", report.partner},
          {"verdict", report.not_run.empty() ? verdict_name(report.verdict) : "not run"},
          {"not_run", report.not_run},
          {"seconds", number(report.seconds)},
          {"content", report.content},
          {"replay", report.replay},
          {"checks", list_to_json(report.checks)}};
}

CaseReport report_from(const Json& json) {
  CaseReport report;
  report.case_id = json.at("case");
  report.relation = json.at("relation");
  report.partner = json.at("partner");
  report.not_run = json.at("not_run");
  if (report.not_run.empty()) {
    report.verdict = verdict_from(json.at("verdict"));
  }
  report.seconds = number_from(json.at("seconds"));
  report.content = json.at("content");
  report.replay = json.at("replay");
  for (const Json& check : json.at("checks")) {
    report.checks.push_back(check_from(check));
  }
  return report;
}

// What programs wrote to standard error may be any bytes; they are replaced, not refused.
std::string dump(const CaseReport& report, int indent) {
  return to_json(report).dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string format_report(const CaseReport& report) {
  return dump(report, -1);
}

std::string format_report_indented(const CaseReport& report) {
  return dump(report, 2) + "\n";
}

CaseReport parse_report(const std::string& text) {
  try {
    return report_from(Json::parse(text));
  } catch (const std::exception& error) {  // JSON's and ours
    throw UsageError(fmt::format("no report of a case: {}", error.what()));
  }
}

}  // namespace meshparity
