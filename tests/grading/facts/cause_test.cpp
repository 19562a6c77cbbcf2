#include "grading/facts/cause.hpp"

#include <nlohmann/json.hpp>

#include "grading/facts/words.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using course::Shape;
using course::test::failed_check;
using course::test::finding;
using course::test::wrong_values;

namespace {

CaseResult failed(std::vector<Failure> failures) {
  CaseResult result;
  result.failures = std::move(failures);
  return result;
}

Failure explained_by(const std::string& mistake) {
  return wrong_values("c", {{mistake, "It is " + mistake + "."}});
}

std::string told(const std::vector<CaseResult>& cases) {
  const std::optional<Cause> cause = likeliest_cause(cases);
  std::string text;
  for (const CaseResult& result : cases)
    if (text.empty() && cause) text = sentence_for(*cause, result);
  return text;
}

}  // namespace

TEST_CASE("a mistake that explains a result and that none contradicts is the cause") {
  CHECK(told({failed({explained_by("a")})}) == "It is a.");
  CHECK(told({failed({wrong_values("c", {{"b", ""}})}), failed({explained_by("a")})}) == "It is a.");
  CHECK(told({failed({failed_check("It reads too much.")}), failed({explained_by("a")})}) == "It is a.");
}

TEST_CASE("a mistake that any failed case contradicts is not told") {
  const CaseResult against = failed({wrong_values("c", {{"a", ""}})});
  CHECK(told({failed({explained_by("a")}), against}).empty());
  CaseResult passed = against;
  passed.passed = true;
  CHECK(told({failed({explained_by("a")}), passed}) == "It is a.");
}

TEST_CASE("of two mistakes the one that a further case speaks for is told") {
  const CaseResult both = failed({wrong_values("c", {{"a", "It is a."}, {"b", "It is b."}})});
  CHECK(told({both, failed({explained_by("b")})}) == "It is b.");
  CHECK(told({both}) == "Two mistakes give exactly these numbers. One: It is a. The other: It is b.");
}

TEST_CASE("one mistake is told before two at once") {
  const std::string two = std::string(kTwoThings) + " One: A. The other: B.";
  CHECK(told({failed({wrong_values("c", {{"a", "It is a."}, {"a_and_b", two}})})}) == "It is a.");
  CHECK(told({failed({wrong_values("c", {{"a_and_b", two}, {"d", "It is d."}})})}) == "It is d.");
}

TEST_CASE("a remark that two mistakes share is told once") {
  const CaseResult both =
      failed({wrong_values("c", {{"a", "It is a. (So it is.)"}, {"b", "It is b. (So it is.)"}})});
  CHECK(told({both}) ==
        "Two mistakes give exactly these numbers. One: It is a. The other: It is b. (So it is.)");
}

TEST_CASE("three mistakes with the same numbers, or two that explain different results, are no cause") {
  CHECK(told({failed({wrong_values("c", {{"a", "A."}, {"b", "B."}, {"d", "D."}})})}).empty());
  CHECK(told({failed({explained_by("a")}), failed({explained_by("b")})}).empty());
}

TEST_CASE("what explains only a few numbers is told as probable") {
  CHECK(told({failed({wrong_values("c", {{"a", "It is a."}}, 3)})}) == "Probably: It is a.");
  CHECK(told({failed({wrong_values("c", {{"a", "It is a."}}, 2)})}).empty());
}

TEST_CASE("what explains nothing but NaN throughout is told as probable") {
  Failure all_nan = wrong_values("c", {{"a", "It is a."}}), some_nan = all_nan;
  all_nan.values.common = some_nan.values.common = WrongValues::Common::nan;
  all_nan.values.size = all_nan.values.count;
  some_nan.values.size = all_nan.values.count + 1;
  CHECK(told({failed({all_nan}), failed({all_nan})}) == "Probably: It is a.");
  CHECK(told({failed({some_nan})}) == "It is a.");
  CHECK(told({failed({all_nan}), failed({explained_by("a")})}) == "It is a.");
}

TEST_CASE("NaN and infinities contradict a mistake only if nothing else speaks for it") {
  Failure overflowed = wrong_values("c", {{"a", ""}}), explained = explained_by("a");
  overflowed.values.overflowed = true;
  CHECK(told({failed({explained}), failed({overflowed})}) == "It is a.");
  overflowed.attempts[0].ruled_out = true;  // no number says so
  CHECK(told({failed({explained}), failed({overflowed})}).empty());
  CHECK(failure_from_json(failure_to_json(overflowed)).attempts[0].ruled_out);
  overflowed.attempts[0].ruled_out = false;
  explained.values.overflowed = true;
  CHECK(told({failed({explained})}) == "It is a.");
  CHECK(told({failed({explained}), failed({overflowed})}).empty());
}

TEST_CASE("of a mistake's forms, the one is told that explains most failures") {
  const auto of_tiles = [](const char* sentence, std::vector<std::string> others) {
    Failure failure = wrong_values("c");
    failure.attempts = {{.mistake = "a", .sentence = sentence, .other_forms = std::move(others)}};
    return failed({failure});
  };
  const std::vector<CaseResult> cases{of_tiles("Tiles of 8.", {"Tiles of 16.", "Tiles of 32."}),
                                      of_tiles("Tiles of 16.", {"Tiles of 32."}),
                                      of_tiles("Tiles of 32.", {})};
  const auto cause = likeliest_cause(cases);
  REQUIRE(cause);
  for (const CaseResult& one : cases) CHECK(sentence_for(*cause, one) == "Tiles of 32.");
  const Failure& many = cases[0].failures[0];
  CHECK(failure_from_json(failure_to_json(many)).attempts[0].other_forms == many.attempts[0].other_forms);
}

TEST_CASE("where check mode has found a reason, numbers are not explained") {
  CaseResult race = failed({explained_by("a")});
  race.findings = {finding("race")};
  CHECK(told({failed({explained_by("a")}), race}).empty());
  race.findings = {finding("out_of_bounds"), finding("race", 5)};
  CHECK(told({failed({explained_by("a")}), race}).empty());
  race.findings = {finding("missing_syncwarp", 3, Severity::warning)};
  CHECK(told({race}).empty());
  race.findings = {finding("leak", 3, Severity::warning)};
  CHECK(told({race}) == "It is a.");
}

TEST_CASE("a case with accesses outside their arrays neither speaks for a mistake nor against it") {
  CaseResult stray = failed({wrong_values("c", {{"a", ""}, {"b", "It is b."}})});
  stray.findings = {finding("out_of_bounds")};
  CHECK(told({failed({explained_by("a")}), stray}) == "It is a.");
  CHECK(told({stray}).empty());
}

TEST_CASE("what a wrong index finds at the line where it leaves an array follows from that") {
  Finding stray = finding("out_of_bounds", 7), race = finding("race", 3), shared_race = race;
  stray.memory = race.memory = "global";
  shared_race.memory = "shared";
  race.other.file = shared_race.other.file = stray.here.file;
  race.other.line = shared_race.other.line = 7;
  CHECK(follows_from(race, stray));
  CHECK(follows_from(finding("uninitialised_read", 7), stray));
  CHECK_FALSE(follows_from(shared_race, stray));
  CHECK_FALSE(follows_from(finding("uninitialised_read", 3), stray));
  CHECK_FALSE(follows_from(stray, race));
  CHECK(reasons_in({race, stray}).size() == 1);
  CHECK(reasons_in({shared_race, stray}).size() == 2);
  Finding lanes = finding("missing_syncwarp", 7);
  lanes.memory = "shared";
  CHECK_FALSE(follows_from(lanes, stray));
  const Finding past_its_type = finding("out_of_bounds", 7);  // in whichever memory
  CHECK(follows_from(lanes, past_its_type));
  CHECK(follows_from(shared_race, past_its_type));
  const Finding null_pointer = finding("null_pointer", 9);
  CHECK_FALSE(follows_from(null_pointer, stray));
  CHECK(follows_from(null_pointer, finding("out_of_bounds", 7)));  // of a thread's own array
  CHECK(follows_from(finding("stack_overflow", 9), finding("out_of_bounds", 7)));
  CHECK_FALSE(follows_from(finding("stack_overflow", 9), stray));
  CHECK(follows_from(finding("illegal_address", 7), stray));
  CHECK_FALSE(follows_from(finding("illegal_address", 8), stray));
  CaseResult first = failed({wrong_values("c", {{"a", ""}})}), second = first;
  first.findings = {stray};
  second.findings = {race};
  CHECK(told({failed({explained_by("a")}), first, second}) == "It is a.");
  CHECK(told({failed({explained_by("a")}), second}).empty());
}

TEST_CASE(
    "of races that one barrier may order, and of accesses that leave an array at one line, the first is "
    "told") {
  const auto in_shared = [](const char* kind, int line, int other_line) {
    Finding one = finding(kind, line);
    one.memory = "shared";
    one.other.file = one.here.file;
    one.other.line = other_line;
    return one;
  };
  const Finding race = in_shared("race", 26, 41);
  CHECK(reasons_in({race, in_shared("race", 26, 39)}).size() == 1);
  CHECK(reasons_in({race, in_shared("missing_syncwarp", 40, 41)}).size() == 1);
  CHECK(reasons_in({race, in_shared("race", 41, 50)}).size() == 2);  // takes a barrier after line 41
  CHECK(reasons_in({race, in_shared("race", 27, 40)}).size() == 1);
  CHECK(reasons_in({in_shared("missing_syncwarp", 26, 41), in_shared("missing_syncwarp", 26, 39)}).size() ==
        2);
  Finding elsewhere = in_shared("race", 26, 39);
  elsewhere.kernel = "another";
  CHECK(reasons_in({race, elsewhere}).size() == 2);

  Finding K = finding("out_of_bounds", 7), P = K;
  K.memory = P.memory = "shared";
  P.what = "There.";
  CHECK(reasons_in({K, P}).size() == 1);
  P.here.line = 8;
  CHECK(reasons_in({K, P}).size() == 2);
}

TEST_CASE("a case is told with its findings first, then what is wrong, and the cause where it shows") {
  CaseResult result = failed({wrong_values("c", {{"a", "It is a."}})});
  result.failures[0].context = "n = 10";
  CHECK(to_words(result, likeliest_cause({result})) ==
        "n = 10: c[0] is 5, expected 7. 10 of 10 elements are wrong.\nIt is a.");
  result.failures.push_back({.kind = Failure::Kind::call, .sentence = "A fault.", .found = true});
  result.findings = {finding("out_of_bounds")};
  result.printed = "hello";
  CHECK(to_words(result, std::nullopt) ==
        "kernel.cu:3: error: out_of_bounds: Here.\nn = 10: c[0] is 5, expected 7. 10 of 10 elements are "
        "wrong.\n"
        "Your code printed:\nhello");
}

TEST_CASE("threads that are missing at a barrier come before what nobody has written for that") {
  CaseResult result;
  result.findings = {finding("missing_syncwarp", 9, Severity::warning), finding("uninitialised_read", 8),
                     finding("exited_threads", 3, Severity::warning)};
  const std::vector<Finding> reasons = reasons_in(result.findings);
  REQUIRE(reasons.size() == 3);
  CHECK(reasons[0].kind == "exited_threads");
  CHECK(reasons[1].kind == "uninitialised_read");
  CHECK(reasons[2].kind == "missing_syncwarp");
}

TEST_CASE("races and reads of what nobody has written follow from a barrier that threads missed") {
  Finding missed = finding("exited_threads", 5, Severity::warning), race = finding("race", 3);
  Finding read = finding("uninitialised_read", 8);
  race.memory = read.memory = "shared";
  race.other.file = race.here.file;
  race.other.line = 8;
  REQUIRE(race.here.own().is_own());
  CHECK(reasons_in({race, read, missed}).size() == 1);
  race.other.line = 4;  // no barrier stands between the two
  CHECK(reasons_in({race, missed}).size() == 2);
  const Finding divergent = finding("divergent_barrier", 5, Severity::warning);
  CHECK(reasons_in({race, divergent, finding("divergent_barrier", 6, Severity::warning)}).size() == 1);
  race.memory = "global";
  CHECK(reasons_in({race, divergent}).size() == 2);
}

TEST_CASE("threads that left by one return are told once, at however many barriers they are missing") {
  const auto missing_at = [](int line, int line_of_return) {
    Finding one = finding("exited_threads", line, Severity::warning);
    one.other.file = "kernel.cu";
    one.other.line = line_of_return;
    return one;
  };
  std::vector<Finding> list;
  add_new(list, {missing_at(20, 10), missing_at(30, 10), missing_at(40, 12)});
  REQUIRE(list.size() == 2);
  CHECK(list[0].here.line == 20);
  CHECK(list[1].here.line == 40);
}

TEST_CASE("a result that is wrong in another call than the findings are of is told so") {
  CaseResult result;
  result.findings = {finding("out_of_bounds")};
  Failure failure = wrong_values("c");
  failure.context = "n = 33";
  failure.in_other_call = true;
  result.failures = {failure};
  CHECK_THAT(to_words(result, std::nullopt), ContainsSubstring("\nIn another call, n = 33: c[0] is 5"));
  CHECK(failure_from_json(failure_to_json(failure)).in_other_call);
}

TEST_CASE("of a few elements the places are told only where they follow a rule") {
  const auto words = [](const Shape& shape, const std::vector<std::int64_t>& wrong) {
    WrongValues values{.array = "c", .index = {0}, .got = "5", .expected = "7"};
    values.count = static_cast<std::int64_t>(wrong.size());
    values.size = shape[0] * shape[1];
    values.where = locate(shape, {}, wrong);
    return to_words(values);
  };
  CHECK_THAT(words({2, 2}, {1, 2}), EndsWith("2 of 4 elements are wrong."));
  CHECK_THAT(words({2, 2}, {0, 1}), EndsWith("2 of 4 elements are wrong: row 0 of 2."));
  CHECK_THAT(words({1, 12}, {0, 1, 3, 4, 6, 7, 9, 11}),
             EndsWith("8 of 12 elements are wrong."));  // not twice
}

TEST_CASE("of several wrong arrays those that were never written share a line") {
  std::vector<Failure> failures{wrong_values("m"), wrong_values("l"), wrong_values("O")};
  for (Failure& one : failures) one.context = "n = 10";
  failures[1].values.unwritten = failures[2].values.unwritten = 10;
  CHECK(lines_of_failures(failed(failures)) ==
        std::vector<std::string>{"n = 10: m[0] is 5, expected 7. 10 of 10 elements are wrong.",
                                 "l and O were not written, either."});
  failures.erase(failures.begin());
  CHECK(lines_of_failures(failed(failures)).size() == 2);
}

TEST_CASE("an array that was not written because no kernel was launched is told as that") {
  CaseResult result = failed({wrong_values("m")});
  result.counters["launches"] = 0;
  CHECK(lines_of_failures(result).size() == 1);  // the host wrote it
  result.failures.front().values.unwritten = 10;
  CHECK(lines_of_failures(result).back() == "No kernel was launched.");
  result.counters["launches"] = 1;
  CHECK(lines_of_failures(result).size() == 1);
  result.counters.clear();  // nothing was counted
  CHECK(lines_of_failures(result).size() == 1);
}

TEST_CASE("failures of one way have the same key, whatever their numbers; others have not") {
  CHECK(failed_check("It reads 12 bytes.").way() == failed_check("It reads 4096 bytes.").way());
  CHECK(failed_check("It reads 12 bytes.").way() != failed_check("It writes 12 bytes.").way());
  CHECK(wrong_values("O").way() != wrong_values("l").way());
  Failure unwritten = wrong_values("O");
  unwritten.values.never_written = true;
  unwritten.values.unwritten = unwritten.values.count;
  CHECK(unwritten.way() != wrong_values("O").way());
}
