#include "reports/junit.hpp"

#include <fmt/format.h>

#include <fstream>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "fixtures/error.hpp"
#include "reports/finding_text.hpp"
#include "reports/missing.hpp"

namespace meshparity {
namespace {

/// What XML 1.0 cannot hold is shown as a question mark: programs may print anything.
std::string printable(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 && letter != '\n' && letter != '\t') {
      letter = '?';
    }
  }
  return text;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(printable(value).c_str());
}

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
};

class Suite {
 public:
  Suite(pugi::xml_node root, const std::string& name, double seconds)
      : name_(name), node_(root.append_child("testsuite")) {
    set(node_, "name", name);
    set(node_, "time", fmt::format("{:.3f}", seconds));
  }

  pugi::xml_node test(const std::string& name) {
    ++counts_.tests;
    pugi::xml_node test = node_.append_child("testcase");
    set(test, "classname", name_);
    set(test, "name", name);
    return test;
  }
  void skip(pugi::xml_node test, const std::string& why) {
    ++counts_.skipped;
    set(test.append_child("skipped"), "message", why);
  }
  void fault(pugi::xml_node test, Verdict verdict, const std::string& message,
             const std::string& text) {
    const bool diverges = verdict == Verdict::diverges;
    ++(diverges ? counts_.failures : counts_.errors);
    pugi::xml_node fault = test.append_child(diverges ? "failure" : "error");
    set(fault, "message", message);
    set(fault, "type", std::string(verdict_name(verdict)));
    fault.text().set(printable(text).c_str());
  }
  Counts close() {
    set(node_, "tests", fmt::format("{}", counts_.tests));
    set(node_, "failures", fmt::format("{}", counts_.failures));
    set(node_, "errors", fmt::format("{}", counts_.errors));
    set(node_, "skipped", fmt::format("{}", counts_.skipped));
    return counts_;
  }

 private:
  std::string name_;
  pugi::xml_node node_;
  Counts counts_;
};

/// The finding that says why the check is no better than its verdict.
const Finding* worst_finding(const CheckResult& check) {
  for (const Finding& finding : check.findings) {
    if (finding.gravity == check.verdict) {
      return &finding;
    }
  }
  return check.findings.empty() ? nullptr : &check.findings.front();
}

void add_check(Suite& suite, const CheckResult& check, const std::string& replay) {
  pugi::xml_node test = suite.test(check.check);
  if (!check.evidence) {
    suite.skip(test, check.notes.empty() ? "no evidence" : check.notes.front());
    return;
  }
  if (check.verdict == Verdict::conforms) {
    return;
  }
  const Finding* finding = worst_finding(check);
  const std::vector<std::string> lines = finding != nullptr
                                             ? describe_finding(*finding)
                                             : std::vector<std::string>{"no finding says why"};
  suite.fault(test, check.verdict, lines.front(),
              fmt::format("{}\n{} findings\nagain: {}\n", fmt::join(lines, "\n"),
                          check.findings.size(), replay));
}

Counts add_case(pugi::xml_node root, const CaseReport& report) {
  Suite suite(root, subject_of(report), report.seconds);
  if (!report.not_run.empty()) {
    suite.skip(suite.test("run"), report.not_run);
    return suite.close();
  }
  for (const CheckResult& check : report.checks) {
    add_check(suite, check, report.replay);
  }
  if (report.checks.empty()) {
    suite.fault(suite.test("run"), Verdict::inconclusive, "no check looked at this case", "");
  }
  return suite.close();
}

Counts add_lost(pugi::xml_node root, const std::string& name) {
  Suite suite(root, name, 0);
  suite.fault(suite.test("run"), Verdict::inconclusive,
              "no result: the run ended before this case did", "");
  return suite.close();
}

void add(Counts& sum, const Counts& counts) {
  sum.tests += counts.tests;
  sum.failures += counts.failures;
  sum.errors += counts.errors;
  sum.skipped += counts.skipped;
}

}  // namespace

std::string render_junit(const RunPlan& plan, const std::vector<CaseReport>& reports) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "meshparity " + plan.commit);
  Counts sum;
  for (const CaseReport& report : reports) {
    add(sum, add_case(root, report));
  }
  for (const std::string& name : without_result(plan, reports)) {
    add(sum, add_lost(root, name));
  }
  set(root, "tests", fmt::format("{}", sum.tests));
  set(root, "failures", fmt::format("{}", sum.failures));
  set(root, "errors", fmt::format("{}", sum.errors));
  set(root, "skipped", fmt::format("{}", sum.skipped));
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

void write_junit(const std::filesystem::path& file, const RunPlan& plan,
                 const std::vector<CaseReport>& reports) {
  std::ofstream out(file, std::ios::binary);
  out << render_junit(plan, reports);
  if (!out.flush()) {
    throw Error(fmt::format("writing {}", file.string()));
  }
}

}  // namespace meshparity
