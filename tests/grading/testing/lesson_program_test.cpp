// A lesson's test program, seen from outside: exit status, results file, and runs on arrays from disk.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "grading/facts/listing.hpp"
#include "grading/facts/words.hpp"
#include "grading/testing/compare.hpp"
#include "kernels/misdeeds.hpp"
#include "reference/matmul.hpp"
#include "support/catch.hpp"
#include "tensor/npy.hpp"
#include "tensor/random.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The last kernel named counts.
const std::string kSuspects =
    "--kernel " COURSE_TEST_KERNELS "/suspects.so --check-kernel " COURSE_TEST_KERNELS "/suspects_checked.so";

const std::string kSixteenBits =
    "--kernel " COURSE_TEST_KERNELS "/sixteen_bits.so --check-kernel " COURSE_TEST_KERNELS
    "/sixteen_bits_checked.so";

/// A folder of this test's own, and the sample program run in it.
class Sample {
 public:
  Sample() : folder_(std::filesystem::temp_directory_path() / ("course-sample-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "in");
  }
  ~Sample() { std::filesystem::remove_all(folder_); }

  /// Returns the exit status; what was printed is in printed().
  int run(const std::string& arguments) const {
    const std::string command = std::string(COURSE_TEST_SAMPLE) + " --worker " + COURSE_TEST_WORKER +
                                " --kernel " + COURSE_TEST_KERNELS + "/misbehave.so " + arguments + " > " +
                                (folder_ / "printed").string() + " 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int run_on_arrays(const std::string& arguments = "") const {
    return run("--run --in " + (folder_ / "in").string() + " --out " + (folder_ / "out").string() + " " +
               arguments);
  }
  std::string printed() const {
    std::ifstream stream(folder_ / "printed");
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  CaseResult result_of(const std::string& name, const std::string& more = "") const {
    std::filesystem::remove(results());
    run("\"" + name + "\" --results " + results().string() + " " + more);
    const Results all = read_results(results());
    REQUIRE(all.cases.size() == 1);
    return all.cases[0];
  }
  std::filesystem::path results() const { return folder_ / "results.jsonl"; }
  std::filesystem::path folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::string words(const CaseResult& result) { return to_words(result, std::nullopt); }

}  // namespace

TEST_CASE("a passing case is written with its points and tags") {
  const Sample sample;
  const CaseResult result = sample.result_of("adds");
  CHECK(result.passed);
  CHECK(result.name == "adds");
  CHECK(result.points == 2);
  CHECK(result.tags.size() == 2);
  CHECK(std::count(result.tags.begin(), result.tags.end(), "points:2") == 1);
  CHECK(words(result).empty());
  CHECK(result.seconds > 0);
}

TEST_CASE("a failing case is written with its sentence") {
  const Sample sample;
  const CaseResult result = sample.result_of("ends the program");
  CHECK_FALSE(result.passed);
  CHECK_FALSE(result.infrastructure);
  CHECK(result.points == 3);
  CHECK_THAT(words(result), ContainsSubstring("Your code ended the whole program in misbehave"));
}

TEST_CASE("what a test was doing when it failed comes first") {
  const Sample sample;
  CHECK_THAT(words(sample.result_of("is wrong for some sizes")),
             ContainsSubstring("n = 2: c[0] is 1, expected 2"));
}

TEST_CASE("exceptions are required by type and by the word that they name") {
  const Sample sample;
  CHECK(sample.result_of("throws as it should").passed);
  const CaseResult always = sample.result_of("throws whatever it gets");
  CHECK_FALSE(always.passed);
  CHECK_THAT(words(always), ContainsSubstring("code that always throws would pass it"));
  CHECK_THAT(words(sample.result_of("throws another type")),
             ContainsSubstring("was to throw std::out_of_range"));
  CHECK_THAT(words(sample.result_of("throws without the name")), ContainsSubstring("does not name a"));
  CHECK_THAT(words(sample.result_of("does not throw")),
             ContainsSubstring("returned, but was to throw std::invalid_argument"));
}

TEST_CASE("what passing code printed is kept") {
  const Sample sample;
  const CaseResult result = sample.result_of("prints");
  CHECK(result.passed);
  CHECK(result.printed == "a = 7\nb = 8");
}

TEST_CASE("wrong results come before the leak, which is told once, and what was printed comes last") {
  const Sample sample;
  const CaseResult result = sample.result_of("leaks and prints and is wrong");
  CHECK_FALSE(result.passed);
  CHECK_THAT(words(result), ContainsSubstring("n = 2: c[0] is 1, expected 2. 10 of 10 elements are wrong.\n"
                                              "n = 1: 1 device allocation (4000 bytes) is never freed"));
  CHECK(words(result).find("never freed") == words(result).rfind("never freed"));
  CHECK(words(result).ends_with("\nYour code printed:\na = 7\nb = 8"));
}

TEST_CASE("a leak fails the case where the results are right, too") {
  const Sample sample;
  const CaseResult result = sample.result_of("leaks");
  CHECK_FALSE(result.passed);
  CHECK(words(result).starts_with("1 device allocation (4000 bytes) is never freed"));
}

TEST_CASE("a case that checks nothing does not pass") {
  const Sample sample;
  const CaseResult result = sample.result_of("checks nothing");
  CHECK_FALSE(result.passed);
  CHECK(words(result) == "This test case checks nothing.");
}

TEST_CASE("plain assertions and exceptions of the test are written, too") {
  const Sample sample;
  CHECK(words(sample.result_of("compares numbers")) ==
        "Expected two == 3; got 2 == 3.\nExpected two == 4; got 2 == 4.");
  CHECK_THAT(words(sample.result_of("is a mistake in the test")), ContainsSubstring("the test is wrong"));
}

TEST_CASE("the exit status tells passed, failed, wrong usage and an unfit machine") {
  const Sample sample;
  CHECK(sample.run("adds") == 0);
  CHECK(sample.run("adds,prints") == 0);
  CHECK(sample.run("") == 1);
  CHECK(sample.run("--backend tpu") == 2);
  CHECK(sample.run("--no-such-option") == 2);
  CHECK(sample.run("adds --worker /nowhere/worker") == 3);
  CHECK(sample.run("adds --results /dev/full") == 3);
}

TEST_CASE("a case that could not run is the machine's fault, in the results as well") {
  const Sample sample;
  const CaseResult result = sample.result_of("adds", "--worker /nowhere/worker");
  CHECK_FALSE(result.passed);
  CHECK(result.infrastructure);
}

TEST_CASE("all cases of a run are written, in order, each once") {
  const Sample sample;
  CHECK(sample.run("--results " + sample.results().string()) == 1);
  const Results results = read_results(sample.results());
  CHECK_FALSE(results.truncated);
  CHECK(results.cases.size() == 23);
  CHECK(results.cases.front().name == "adds");
}

TEST_CASE("an error that check mode finds fails a case whose output is right, a warning does not") {
  const Sample sample;
  const CaseResult race = sample.result_of("shifts with a race", kSuspects);
  CHECK_FALSE(race.passed);
  REQUIRE(race.findings.size() == 1);
  CHECK(words(race).starts_with(race.findings[0].message()));
  const CaseResult warned = sample.result_of("reverses in warps with a warning", kSuspects);
  CHECK(warned.passed);
  REQUIRE(warned.findings.size() == 1);
  CHECK(warned.findings[0].severity == Severity::warning);
  CHECK(warned.counters.at("shared_load.requests") == 2);
  const CaseResult strict = sample.result_of("insists on no warnings", kSuspects);
  CHECK_FALSE(strict.passed);
  CHECK(words(strict).starts_with(strict.findings.at(0).message()));
}

TEST_CASE("a test that asserts counters fails with its sentence, or where they can never be there") {
  const Sample sample;
  CHECK(words(sample.result_of("counts what a copy reads", kSuspects)).starts_with("You read 256 bytes."));
  CHECK_THAT(words(sample.result_of("counts what was left out", kSuspects)),
             ContainsSubstring("not run in check mode"));
}

TEST_CASE("the seed of a failed case is told, and changes with --seed") {
  const Sample sample;
  const CaseResult first = sample.result_of("ends the program");
  CHECK_THAT(sample.printed(), ContainsSubstring("seed " + std::to_string(first.seed)));
  CHECK(sample.result_of("ends the program").seed == first.seed);
  CHECK(sample.result_of("ends the program", "--seed 9").seed != first.seed);
}

TEST_CASE("a gradient that central differences contradict fails a case") {
  const Sample sample;
  CHECK(sample.result_of("has the gradient of a loss").passed);
  const CaseResult wrong = sample.result_of("has the gradient of another loss");
  CHECK_FALSE(wrong.passed);
  CHECK_THAT(words(wrong), ContainsSubstring("da is wrong: da[") &&
                               ContainsSubstring(" but central differences give ") &&
                               ContainsSubstring(" 6 of 6 elements are wrong: all of them."));
}

TEST_CASE("gradients are checked on random cases, which their seeds repeat") {
  const Sample sample;
  CHECK(sample.run("--gradcheck --seed 1") == 0);
  const std::string three = sample.printed();
  CHECK_THAT(three, ContainsSubstring("Case 1, seed 1: ") && ContainsSubstring("Case 3, seed 3: ") &&
                        ContainsSubstring("\n  db is right: ") && ContainsSubstring(" elements, at most ") &&
                        ContainsSubstring("All 3 gradients are right.\n"));
  const auto case_of = [](const std::string& text,
                          const std::string& seed) {  // two lines, without their seed
    const std::size_t start = text.find(seed) + seed.size();
    return text.substr(start, text.find("differences.", start) - start);
  };
  CHECK(sample.run("--gradcheck --seed 3 --cases 1") == 0);
  CHECK(case_of(sample.printed(), "seed 3: ") == case_of(three, "seed 3: "));
  CHECK(case_of(three, "seed 2: ") != case_of(three, "seed 3: "));
}

TEST_CASE("a wrong gradient is named with the seed that repeats it") {
  const Sample sample;
  CHECK(sample.run("--gradcheck --seed 4 --cases 2") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("  db is right: ") &&
                                   ContainsSubstring("\n  da is wrong: da[") &&
                                   ContainsSubstring("1 of 2 gradients is wrong. Add --seed 5 --cases 1 to"));
  CHECK(sample.run("--gradcheck --seed 5 --cases 1 --set other=false") == 0);
  CHECK(sample.run("--gradcheck --set other=true") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("3 of 3 gradients are wrong. Add --seed 0 --cases 1 to"));
}

TEST_CASE("a gradient check of a kernel that fails, or leaves elements unwritten, says so") {
  const Sample sample;
  const auto with = [&](Misdeed misdeed) {
    return sample.run("--gradcheck --set misdeed=" + std::to_string(misdeed));
  };
  CHECK(with(kWriteHalf) == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring(" was never written; central differences give "));
  CHECK(with(kExitZero) == 1);
  CHECK_THAT(sample.printed(),
             ContainsSubstring("Case 1, seed 0: ") && ContainsSubstring("ended the whole program"));
  CHECK(sample.run("--gradcheck --set nothing=true") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("compares nothing"));
}

TEST_CASE("a gradient check refuses what it does not know") {
  const Sample sample;
  CHECK(sample.run("--gradcheck --set othre=true") == 2);
  CHECK(sample.printed() == "--set othre: this lesson's gradient check has no such setting.\n");
  CHECK(sample.run("--gradcheck --set other=perhaps") == 2);
  CHECK(sample.printed() == "--set other=perhaps: the value must be true or false.\n");
  CHECK(sample.run("--gradcheck --cases 0") == 2);
  CHECK(sample.run("--gradcheck --run") == 2);
  CHECK(sample.run("--gradcheck adds") == 2);
  CHECK(sample.run("--gradcheck --worker /nowhere/worker") == 3);
}

TEST_CASE("a kernel runs on arrays from disk") {
  const Sample sample;
  const Tensor<float> a = uniform({1000}, -1, 1, 1), b = uniform({1000}, -1, 1, 2);
  write_npy(sample.folder() / "in/a.npy", a);
  write_npy(sample.folder() / "in/b.npy", b);
  REQUIRE(sample.run_on_arrays() == 0);
  Tensor<float> expected({1000});
  for (std::int64_t i = 0; i < 1000; ++i) expected(i) = a(i) + b(i);
  CHECK(compare_bits(read_npy<float>(sample.folder() / "out/c.npy"), expected, "c").passed);
}

TEMPLATE_TEST_CASE("a kernel of 16 bits runs on arrays from disk, chosen by what the file holds", "",
                   bfloat16, float16) {
  const Sample sample;
  const auto A = normal<TestType>({5, 6}, 1), B = normal<TestType>({6, 7}, 2);
  write_npy(sample.folder() / "in/A.npy", A);
  write_npy(sample.folder() / "in/B.npy", B);
  REQUIRE(sample.run_on_arrays(kSixteenBits) == 0);
  const auto C = read_npy<TestType>(sample.folder() / "out/C.npy");
  const Tensor<double> expected = reference::matmul(widened(A), widened(B));
  CHECK(compare(C, "C", expected, expected.to<float>()).passed);
  CHECK_THAT(sample.printed(), ContainsSubstring("C (5, 7) is in "));
  const bool says_how = sample.printed().find("words of 16 bits (uint16)") != std::string::npos;
  CHECK(says_how == std::is_same_v<TestType, bfloat16>);
}

TEST_CASE("arrays that are not of 16 bits are told where these are wanted") {
  const Sample sample;
  write_npy(sample.folder() / "in/A.npy", Tensor<float>({5, 6}));
  CHECK(sample.run_on_arrays(kSixteenBits) == 2);
  CHECK_THAT(
      sample.printed(),
      ContainsSubstring("holds float32 values; the lesson wants float16, or bfloat16 as words of 16 bits."));
  write_npy(sample.folder() / "in/A.npy", Tensor<bfloat16>({5, 6}));
  write_npy(sample.folder() / "in/B.npy", Tensor<float16>({6, 5}));
  CHECK(sample.run_on_arrays(kSixteenBits) == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("B.npy") && ContainsSubstring("bfloat16 is needed"));
}

TEST_CASE("a case with a kernel of 16 bits passes, or says what is wrong in numbers of 16 bits") {
  const Sample sample;
  const CaseResult right = sample.result_of("multiplies in 16 bits", kSixteenBits);
  CHECK(right.passed);
  CHECK(right.findings.empty());
  CHECK(right.counters.at("global_load.requests") > 0);
  const CaseResult wrong = sample.result_of("sums in 16 bits", kSixteenBits);
  CHECK_FALSE(wrong.passed);
  CHECK_THAT(words(wrong), ContainsSubstring("C[0, 0] is 427, expected 439.844. 6 of 6 elements are wrong."));
  REQUIRE(wrong.failures.size() == 1);
  CHECK(wrong.failures[0].explanation("sum_of_16_bits") != nullptr);
}

TEST_CASE("a setting of true or false, and an array that need not be there, reach the lesson") {
  const Sample sample;
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({1}, 1.0f));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({1}, 2.0f));
  const auto c_with = [&sample](const std::string& settings) {
    REQUIRE(sample.run_on_arrays(settings) == 0);
    return read_npy<float>(sample.folder() / "out/c.npy")(0);
  };
  CHECK(c_with("") == 3.0f);
  CHECK(c_with("--set twice=true") == 6.0f);
  CHECK(c_with("--set twice=1") == 6.0f);
  CHECK(c_with("--set twice=0") == 3.0f);
  CHECK(sample.run_on_arrays("--set twice=yes") == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("--set twice=yes: the value must be true or false."));
  write_npy(sample.folder() / "in/twice.npy", Tensor<float>({1}));
  CHECK(c_with("") == 6.0f);
  CHECK(c_with("--set twice=false") == 3.0f);
}

TEST_CASE("a run on arrays from disk shows all that the code prints") {
  const Sample sample;
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({3}));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({3}));
  REQUIRE(sample.run_on_arrays("--set print=1") == 0);
  CHECK_THAT(sample.printed(), ContainsSubstring("a = 7\nb = 8\nc (3) is in "));
}

TEST_CASE("a run whose kernel leaves elements unwritten says so and writes nothing") {
  const Sample sample;
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({10}));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({10}));
  CHECK(sample.run_on_arrays("--set half=1") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("Your code wrote only 5 of 10 elements of c."));
  CHECK_FALSE(std::filesystem::exists(sample.folder() / "out/c.npy"));
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({1}));  // and half of one element is none
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({1}));
  CHECK(sample.run_on_arrays("--set half=1") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("Your code never wrote c."));
}

TEST_CASE("arrays and settings that do not fit are told in one sentence") {
  const Sample sample;
  CHECK(sample.run_on_arrays() == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("a.npy is missing"));
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({3}));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({4}));
  CHECK(sample.run_on_arrays() == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("n is 3 in a.npy but 4 in b.npy"));
  write_npy(sample.folder() / "in/b.npy", Tensor<double>({3}));
  CHECK(sample.run_on_arrays() == 2);
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({3, 1}));
  CHECK(sample.run_on_arrays() == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("has shape (3, 1); the lesson wants (n)"));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({3}));
  CHECK(sample.run_on_arrays("--set exit=x") == 2);
  CHECK(sample.run_on_arrays("--set exti=1") == 2);
  CHECK_THAT(sample.printed(), ContainsSubstring("no such setting"));
}

TEST_CASE("a kernel that fails on arrays from disk writes nothing") {
  const Sample sample;
  write_npy(sample.folder() / "in/a.npy", Tensor<float>({3}));
  write_npy(sample.folder() / "in/b.npy", Tensor<float>({3}));
  CHECK(sample.run_on_arrays("--set exit=1") == 1);
  CHECK_THAT(sample.printed(), ContainsSubstring("ended the whole program"));
  CHECK_FALSE(std::filesystem::exists(sample.folder() / "out/c.npy"));
}

TEST_CASE("a program lists its cases without a kernel") {
  const Sample sample;
  const auto ask = [&](const char* option) {
    const std::string command = std::string(COURSE_TEST_SAMPLE) + " " + option + " > " +
                                (sample.folder() / "printed").string() + " 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  REQUIRE(ask("--list-cases") == 0);
  const std::vector<ListedCase> cases = listed_cases(sample.printed());
  REQUIRE(cases.size() > 10);
  CHECK(cases.front().name == "adds");
  CHECK(cases.front().points == 2);
  CHECK(cases.front().tags.size() == 2);
  // A case that fails without a kernel may leave out what it knows: that is a mistake in the test.
  CHECK(ask("--list-mistakes") == 3);
  CHECK_THAT(sample.printed(), ContainsSubstring("compares numbers: Expected two == 3; got 2 == 3.") &&
                                   ContainsSubstring("cannot be rehearsed"));
}
