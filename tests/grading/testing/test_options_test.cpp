#include "grading/testing/test_options.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"

using Catch::Matchers::ContainsSubstring;
using course::grading::parse_test_options;
using course::grading::TestOptions;

TEST_CASE("options of ours are taken out, and the rest is Catch2's") {
  const TestOptions options =
      parse_test_options({"--kernel", "k.so", "[l01]", "--worker=w", "-s", "--backend", "gpu", "--results",
                          "r.jsonl", "--seed", "12", "--out", "report.xml", "--sanitizer=tool.json"});
  CHECK(options.kernel == "k.so");
  CHECK(options.worker == "w");
  CHECK(options.backend == "gpu");
  CHECK(options.results == "r.jsonl");
  CHECK(options.seed == 12);
  CHECK(options.sanitizer == "tool.json");
  CHECK(options.catch2 == std::vector<std::string>{"[l01]", "-s", "--out", "report.xml"});
  CHECK_FALSE(options.run);
}

TEST_CASE("a run on arrays takes folders and settings") {
  const TestOptions options = parse_test_options(
      {"--run", "--in", "a", "--out=b", "--set", "k=3", "--set=name=x=y", "--kernel", "k.so"});
  CHECK(options.run);
  CHECK(options.in == "a");
  CHECK(options.out == "b");
  CHECK(options.settings.at("k") == "3");
  CHECK(options.settings.at("name") == "x=y");
}

TEST_CASE("a gradient check takes cases, a seed and settings") {
  const TestOptions options = parse_test_options(
      {"--gradcheck", "--cases", "7", "--seed=4", "--set", "causal=true", "--kernel", "k.so"});
  CHECK(options.gradcheck);
  CHECK_FALSE(options.run);
  CHECK(options.cases == 7);
  CHECK(options.seed == 4);
  CHECK(options.settings.at("causal") == "true");
  CHECK(parse_test_options({"--cases", "7"}).catch2.size() == 2);  // no option of ours without --gradcheck
}

TEST_CASE("wrong options are told in one sentence") {
  CHECK_THROWS_WITH(parse_test_options({"--kernel"}), ContainsSubstring("--kernel wants a value"));
  CHECK_THROWS_WITH(parse_test_options({"--seed", "x"}), ContainsSubstring("whole number, not \"x\""));
  CHECK_THROWS_WITH(parse_test_options({"--backend", "tpu"}), ContainsSubstring("cpu or gpu"));
  CHECK_THROWS_WITH(parse_test_options({"--timeout", "0"}), ContainsSubstring("more than 0"));
  CHECK_THROWS_WITH(parse_test_options({"--run", "--in", "a"}), ContainsSubstring("--out DIR"));
  CHECK_THROWS_WITH(parse_test_options({"--run", "--in", "a", "--out", "b", "--set", "k"}),
                    ContainsSubstring("name=value"));
  CHECK_THROWS_WITH(parse_test_options({"--run", "--in", "a", "--out", "b", "-s"}),
                    ContainsSubstring("\"-s\""));
  CHECK_THROWS_WITH(parse_test_options({"--gradcheck", "-s"}),
                    ContainsSubstring("--gradcheck does not know"));
  CHECK_THROWS_WITH(parse_test_options({"--gradcheck", "--run"}), ContainsSubstring("exclude each other"));
  CHECK_THROWS_WITH(parse_test_options({"--gradcheck", "--cases", "0"}), ContainsSubstring("at least 1"));
}

TEST_CASE("a list is asked for alone") {
  CHECK(parse_test_options({"--list-cases"}).list_cases);
  CHECK(parse_test_options({"--list-mistakes"}).list_mistakes);
  CHECK_THROWS_WITH(parse_test_options({"--list-cases", "--seed", "1"}),
                    ContainsSubstring("--list-cases goes with nothing else."));
}
