#include "simt/check/finding_log.hpp"

#include "simt/classes.hpp"
#include "support/catch.hpp"

using namespace simt::check;
using simt::Finding;
using simt::Severity;

namespace {

Finding between(int line, int other_line, const std::string& what = "what") {
  Finding finding;
  finding.here = {"/home/reader/tile.cu", line, {}, {}};
  finding.other = {"/home/reader/tile.cu", other_line, {}, {}};
  finding.what = what;
  return finding;
}

}  // namespace

TEST_CASE("a finding at the same lines is told once and counted", "[simt][findings]") {
  FindingLog log;
  log.add(kRace, between(4, 7, "first"), 1, 2);
  log.add(kRace, between(4, 7, "second"), 1, 3);
  log.add(kRace, between(4, 8), 1, 4);
  const std::vector<Finding> findings = log.take();
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].kind == "race");
  CHECK(findings[0].what == "first");
  CHECK(findings[0].count == 2);
  CHECK(findings[1].count == 1);
}

TEST_CASE("the two sides of a race may change places", "[simt][findings]") {
  FindingLog log;
  log.add(kRace, between(4, 7), 1, 2);
  log.add(kRace, between(7, 4), 2, 1);
  CHECK(log.take().size() == 1);
}

TEST_CASE("a pair of sites that was told is recognised and counted, within one launch", "[simt][findings]") {
  FindingLog log;
  CHECK_FALSE(log.repeated(kRace, 1, 2));
  log.add(kRace, between(4, 7), 1, 2);
  CHECK(log.repeated(kRace, 1, 2));
  CHECK_FALSE(log.repeated(kRace, 2, 1));
  CHECK_FALSE(log.repeated(kOutOfBounds, 1, 2));
  log.begin_launch();
  CHECK_FALSE(log.repeated(kRace, 1, 2));
  log.add(kRace, between(4, 7), 1, 2);
  const std::vector<Finding> findings = log.take();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].count == 3);
}

TEST_CASE("classes at the same lines are told apart", "[simt][findings]") {
  FindingLog log;
  log.add(kOutOfBounds, between(4, 0), 1, 0);
  log.add(kUninitialisedRead, between(4, 0), 1, 0);
  CHECK(log.take().size() == 2);
}

TEST_CASE("a race tells what a missing __syncwarp and writes of one value at its lines would tell",
          "[simt][findings]") {
  const char* const milder = GENERATE(kMissingSyncwarp, kSameValueWrite);
  const bool race_first = GENERATE(true, false);
  CAPTURE(milder, race_first);
  FindingLog log;
  if (race_first) log.add(kRace, between(4, 7, "a race"), 1, 2);
  log.add(milder, between(7, 4, "a milder one"), 3, 4);
  if (!race_first) log.add(kRace, between(4, 7, "a race"), 1, 2);
  const std::vector<Finding> findings = log.take();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == "race");
  CHECK(findings[0].what == "a race");
  CHECK(findings[0].count == 2);
}

TEST_CASE("findings come in the order in which they were made, even if one grew worse", "[simt][findings]") {
  FindingLog log;
  log.add(kMissingSyncwarp, between(4, 7), 1, 2);
  log.add(kOutOfBounds, between(2, 0), 3, 0);
  log.add(kRace, between(4, 7), 1, 2);
  const std::vector<Finding> findings = log.take();
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].kind == "race");
  CHECK(findings[1].kind == "out_of_bounds");
}

TEST_CASE("what was taken is forgotten", "[simt][findings]") {
  FindingLog log;
  log.add(kRace, between(4, 7), 1, 2);
  CHECK(log.size() == 1);
  log.take();
  CHECK(log.size() == 0);
  CHECK_FALSE(log.repeated(kRace, 1, 2));
  log.add(kRace, between(4, 7), 1, 2);
  CHECK(log.take().at(0).count == 1);
}

TEST_CASE("a message begins like a compiler's and has no folder in it", "[simt][findings]") {
  Finding finding = between(4, 7, "Thread 1 writes tile[2].");
  finding.kind = "race";
  finding.rule = "A rule.";
  finding.fix = "A fix.";
  CHECK(finding.message() == "tile.cu:4: error: race: Thread 1 writes tile[2]. A rule. A fix.");
  finding.severity = Severity::note;
  finding.here.line = 0;
  finding.rule.clear();
  CHECK(finding.message() == "note: race: Thread 1 writes tile[2]. A fix.");
}
