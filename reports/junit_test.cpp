#include "reports/junit.hpp"

#include <gtest/gtest.h>

#include <pugixml.hpp>

#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

CheckResult check(const std::string& name, Verdict verdict) {
  CheckResult result;
  result.check = name;
  result.verdict = verdict;
  if (verdict != Verdict::conforms) {
    Finding finding;
    finding.check = name;
    finding.gravity = verdict;
    finding.text = "1 < 2 & \"so on\" \x01";
    result.findings.push_back(finding);
  }
  return result;
}

/// A case of each kind: conforms, diverges, inconclusive, not run, lost.
RunPlan plan() {
  RunPlan plan;
  plan.cases = {"good", "bad", "open", "gone"};
  plan.relations = {{"repeat", "good", "good"}};
  return plan;
}

std::vector<CaseReport> reports() {
  CaseReport good;
  good.case_id = "good";
  good.checks = {check("liveness", Verdict::conforms), check("forward", Verdict::conforms)};
  CaseReport bad = good;
  bad.case_id = "bad";
  bad.replay = "meshparity replay bad";
  bad.checks.push_back(check("grad", Verdict::diverges));
  bad.checks.push_back(check("step", Verdict::conforms));
  bad.checks.back().evidence = false;
  CaseReport open;
  open.case_id = "open";
  open.checks = {check("loss", Verdict::inconclusive)};
  CaseReport not_run;
  not_run.case_id = "elsewhere";
  not_run.not_run = "no GPU";
  CaseReport relation = good;
  relation.relation = "repeat";
  relation.partner = "good";
  relation.checks = {check("equal", Verdict::conforms)};
  return {good, bad, open, not_run, relation};
}

pugi::xml_document parsed(const std::string& text) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(text.c_str())) << text;
  return document;
}

TEST(Junit, CountsEachOutcomeAsItsReadersDo) {
  const pugi::xml_document document = parsed(render_junit(plan(), reports()));
  const pugi::xml_node root = document.child("testsuites");

  EXPECT_EQ(root.attribute("tests").as_int(), 10);
  EXPECT_EQ(root.attribute("failures").as_int(), 1);
  EXPECT_EQ(root.attribute("errors").as_int(), 2);
  EXPECT_EQ(root.attribute("skipped").as_int(), 2);
}

TEST(Junit, NamesCaseCheckAndFinding) {
  const pugi::xml_document document = parsed(render_junit(plan(), reports()));
  const pugi::xml_node bad =
      document.child("testsuites").find_child_by_attribute("testsuite", "name", "bad");
  const pugi::xml_node grad = bad.find_child_by_attribute("testcase", "name", "grad");

  EXPECT_STREQ(grad.attribute("classname").value(), "bad");
  const std::string message = grad.child("failure").attribute("message").value();
  EXPECT_NE(message.find("1 < 2 & \"so on\" ?"), std::string::npos) << message;
  const std::string text = grad.child("failure").text().get();
  EXPECT_NE(text.find("again: meshparity replay bad"), std::string::npos);
  EXPECT_TRUE(bad.find_child_by_attribute("testcase", "name", "step").child("skipped"));
}

TEST(Junit, TellsOfACaseThatTheRunLost) {
  const pugi::xml_document document = parsed(render_junit(plan(), reports()));
  const pugi::xml_node gone =
      document.child("testsuites").find_child_by_attribute("testsuite", "name", "gone");

  EXPECT_TRUE(gone.child("testcase").child("error"));
}

// A second reader, of another house.
TEST(Junit, IsReadByPythonToo) {
  const ScratchFolder scratch;
  write_junit(scratch / "junit.xml", plan(), reports());
  Launch launch({MESHPARITY_PYTHON, "-c",
                 "import sys, xml.etree.ElementTree as tree\n"
                 "root = tree.parse(sys.argv[1]).getroot()\n"
                 "print(*(len(root.findall('.//' + kind)) for kind in"
                 " ('testsuite', 'testcase', 'failure', 'error', 'skipped')))",
                 (scratch / "junit.xml").string()},
                scratch / "log");
  std::string line;

  ASSERT_EQ(launch.read_line(line, std::chrono::seconds(30)), Launch::Read::line);
  EXPECT_EQ(line, "6 10 1 2 2");
  EXPECT_EQ(launch.wait().exit_code, 0);
}

}  // namespace
}  // namespace meshparity
