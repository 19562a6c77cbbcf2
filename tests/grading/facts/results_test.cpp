#include "grading/facts/results.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "grading/facts/words.hpp"
#include "grading/testing/case.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::grading;
namespace test = course::test;

namespace {

/// A file that does not exist yet, and is removed at the end.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_(std::filesystem::temp_directory_path() / ("course-results-" + std::to_string(getpid()))) {
    std::filesystem::remove(path_);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

 private:
  std::filesystem::path path_;
};

CaseResult example() {
  CaseResult result;
  result.name = "adds 1000 elements";
  result.tags = {"l01", "vector_add", "points:2"};
  result.points = 2;
  result.passed = false;
  result.seconds = 0.25;
  result.seed = ~std::uint64_t{0};
  result.failures = {test::wrong_values("c", {{"swapped", "a and b are \"swapped\"."}, {"doubled", ""}}),
                     test::failed_check("It reads too much.")};
  result.failures[0].context = "n = 10";
  result.failures[0].values.where =
      locate({4, 10}, {"head", "key"}, {13, 14, 15, 16, 17, 18, 19, 33, 34, 35, 36, 37, 38, 39});
  result.failures[1].found = true;
  result.findings = {test::finding("out_of_bounds", 14)};
  result.counters = {{"bytes", 12}};
  result.launches.resize(1);
  result.launches[0].kernel = "add_kernel";
  result.launches[0].total.global_store.bytes = 128;
  result.launches[0].order = {.blocks = 30, .work = 900, .largest = 70, .last_largest = 60, .busiest = 300};
  result.launches[0].loads = {.blocks = 30, .work = 800, .last_largest = 50, .busiest = 200};
  result.launches[0].stores = {.blocks = 30, .work = 700, .largest = 90};
  result.launches[0].copies_ahead = {.of_shared_loads = 7, .of_global_stores = 8};
  return result;
}

}  // namespace

TEST_CASE("results come back from the file as they were written") {
  const TemporaryFile file;
  append_result(file.path(), example());
  append_result(file.path(), example());
  const Results results = read_results(file.path());
  CHECK_FALSE(results.truncated);
  REQUIRE(results.cases.size() == 2);
  const CaseResult& copy = results.cases[1];
  CHECK(copy.name == example().name);
  CHECK(copy.tags == example().tags);
  CHECK(copy.points == 2);
  CHECK_FALSE(copy.passed);
  CHECK(copy.seconds == 0.25);
  CHECK(copy.seed == ~std::uint64_t{0});
  REQUIRE(copy.failures.size() == 2);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(failure_to_json(copy.failures[i]) == failure_to_json(example().failures[i]));
  CHECK(to_words(copy, std::nullopt) == to_words(example(), std::nullopt));
  REQUIRE(copy.findings.size() == 1);
  CHECK(copy.findings[0].kind == "out_of_bounds");
  CHECK(copy.findings[0].here.line == 14);
  CHECK(copy.counters == example().counters);
  CHECK(launches_to_json(copy.launches) == launches_to_json(example().launches));
}

TEST_CASE("a file that does not exist has no results") {
  const TemporaryFile file;
  CHECK(read_results(file.path()).cases.empty());
  CHECK_FALSE(read_results(file.path()).truncated);
  CHECK(count_results(file.path()) == 0);
}

TEST_CASE("a half-written last line is left out and reported") {
  const TemporaryFile file;
  append_result(file.path(), example());
  const std::string line = to_json_line(example());
  file.append(line.substr(0, line.size() / 2));
  const Results results = read_results(file.path());
  CHECK(results.cases.size() == 1);
  CHECK(results.truncated);
  CHECK(count_results(file.path()) == 1);
}

TEST_CASE("a line that is not a result is an error with its place") {
  const TemporaryFile file;
  append_result(file.path(), example());
  file.append("{\"name\": 3}\n");
  CHECK_THROWS_WITH(read_results(file.path()), Catch::Matchers::ContainsSubstring(":2 is not a test result"));
}

TEST_CASE("a result is one line, even of bytes that are no text") {
  CaseResult result = example();
  result.failures = {test::failed_check("\xff\xfe\n\x01")};
  CHECK(to_json_line(result).find('\n') == std::string::npos);
}

TEST_CASE("a results file that cannot be written is an error with its name") {
  CHECK_THROWS_WITH(append_result("/dev/full", example()), Catch::Matchers::ContainsSubstring("/dev/full"));
  CHECK_THROWS_WITH(append_result("/nowhere/at/all", example()),
                    Catch::Matchers::ContainsSubstring("No such file"));
}

TEST_CASE("the seed of a case depends on its name and on the seed of the run") {
  current_case().name = "one";
  const std::uint64_t one = case_seed();
  CHECK(case_seed() == one);
  current_case().name = "two";
  CHECK(case_seed() != one);
  current_case().name = "one";
  set_base_seed(5);
  CHECK(case_seed() != one);
  set_base_seed(0);
  CHECK(case_seed() == one);
}
