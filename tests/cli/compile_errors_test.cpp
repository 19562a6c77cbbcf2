// Each file of tests/cli/compile_errors does not compile. Its first lines say what its author has to read,
// with the simulator's compiler ("cpu") and with nvcc ("gpu"), and at which line of the file:
//
//   // cpu, line 12: The statement on line 12 needs a ';' at its end.
//   // gpu, line 13: The statement on line 12 needs a ';' at its end.
//
// "both" is short for two lines that are alike, and "line -" says that the linker finds it. A sentence may go
// on in the next line. What is not named is not compiled.

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "grading/base/subprocess.hpp"
#include "grading/build/compile_advice.hpp"
#include "grading/build/kernel_build.hpp"
#include "grading/project/lesson.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Expectation {
  fs::path file;
  Backend backend = Backend::cpu;
  std::string place;     // "tests/cli/compile_errors/01_semicolon.cu:12: "; empty if the linker finds it
  std::string sentence;  // on one line
};

std::string name_in_messages(const fs::path& file) {
  return "tests/cli/compile_errors/" + file.filename().string();
}

/// "// cpu, line 12: words" and the lines that go on with "//   more words".
std::vector<Expectation> read_expectations(const fs::path& file) {
  std::vector<Expectation> found;
  std::size_t first_of_sentence = 0;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line) && line.starts_with("// ");) {
    if (line.starts_with("//   ")) {
      for (std::size_t i = first_of_sentence; i < found.size(); ++i)
        found[i].sentence += " " + line.substr(5);
      continue;
    }
    first_of_sentence = found.size();
    const auto comma = line.find(", line "), colon = line.find(": ");
    if (comma == std::string::npos || colon == std::string::npos) break;
    const std::string backend = line.substr(3, comma - 3);
    const std::string number = line.substr(comma + 7, colon - comma - 7);
    if (backend != "cpu" && backend != "gpu" && backend != "both") break;
    const std::string place = number == "-" ? "" : name_in_messages(file) + ":" + number + ": ";
    for (const Backend one : {Backend::cpu, Backend::gpu})
      if (backend == "both" || backend == backend_name(one))
        found.push_back({file, one, place, line.substr(colon + 2)});
  }
  return found;
}

std::vector<Expectation> all_expectations(const fs::path& folder) {
  std::vector<Expectation> all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cu") continue;
    const std::vector<Expectation> found = read_expectations(entry.path());
    INFO(entry.path());
    CHECK_FALSE(found.empty());
    all.insert(all.end(), found.begin(), found.end());
  }
  std::sort(all.begin(), all.end(),
            [](const Expectation& a, const Expectation& b) { return a.file < b.file; });
  return all;
}

/// What the author reads, for each expectation; compiled on as many threads as there are cores.
std::vector<std::string> compile_all(const Toolchain& toolchain,
                                     const std::vector<Expectation>& expectations) {
  const std::vector<Lesson> lessons = read_lessons(toolchain.source_dir);
  std::vector<std::string> messages(expectations.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < expectations.size(); i = next++) {
      const Expectation& one = expectations[i];
      const Lesson lesson = select_lessons(lessons, {one.file.filename().string().substr(0, 2)}).front();
      const std::vector<std::string> architectures{"80"};
      const BuildOutcome built =
          one.backend == Backend::cpu
              ? build_kernel(toolchain, lesson, one.file, Backend::cpu)
              : build_kernel(toolchain, lesson, one.file, Backend::gpu, Flavour::run, architectures);
      messages[i] = built.ok() ? "It compiles." : built.message;
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) workers.emplace_back(work);
  workers.clear();
  return messages;
}

}  // namespace

TEST_CASE("a first file's slip is explained in words, at its own line", "[cli][compile_errors]") {
  const ScratchFolder scratch(fs::temp_directory_path());
  Toolchain toolchain = Toolchain::read(COURSE_TOOLCHAIN);
  toolchain.binary_dir = scratch.path();
  fs::create_directories(scratch.path() / "kernels");
  std::vector<Expectation> expectations = all_expectations(toolchain.source_dir / "tests/cli/compile_errors");
  if (!toolchain.gpu)
    std::erase_if(expectations, [](const auto& one) { return one.backend == Backend::gpu; });
  REQUIRE(expectations.size() >= 20);

  const std::vector<std::string> messages = compile_all(toolchain, expectations);
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    const Expectation& one = expectations[i];
    INFO(one.file.filename().string() << ", " << backend_name(one.backend) << ":\n" << messages[i]);
    CHECK_THAT(messages[i], ContainsSubstring(one.sentence));
    CHECK(messages[i].starts_with(one.place));
    // Nothing of the compiler's own business.
    CHECK_THAT(messages[i], !ContainsSubstring(scratch.path().string()));
    CHECK_THAT(messages[i], !ContainsSubstring("kernel.cpp"));
    CHECK_THAT(messages[i], !ContainsSubstring("_ZN"));
    CHECK_THAT(messages[i], !ContainsSubstring("sizetype"));
    CHECK_THAT(messages[i], !ContainsSubstring("simt_"));
  }
}
