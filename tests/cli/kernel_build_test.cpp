#include "grading/build/kernel_build.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "grading/base/subprocess.hpp"
#include "grading/project/lesson.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The project's own lesson 01, built into an empty cache with a copy of the precompiled prelude.
struct BuildFixture {
  ScratchFolder folder{fs::temp_directory_path()};
  Toolchain toolchain = Toolchain::read(COURSE_TOOLCHAIN);
  Lesson lesson = select_lessons(read_lessons(toolchain.source_dir), {"01"}).front();
  fs::path prelude = folder.path() / "prelude";

  BuildFixture() {
    toolchain.binary_dir = folder.path();
    fs::create_directories(folder.path() / "kernels");
    if (toolchain.cpu.value().prelude.empty()) return;
    fs::copy(toolchain.cpu->prelude, prelude, fs::copy_options::recursive);
    toolchain.cpu->prelude = prelude;
  }

  /// The solution with `text` instead of `line`, beside this build.
  fs::path changed(const std::string& name, const std::string& line, const std::string& text) {
    std::string code = read_file(lesson.solution());
    code.replace(code.find(line), line.size(), text);
    write_file_atomically(folder.path() / name, code);
    return folder.path() / name;
  }

  BuildOutcome build() { return build_kernel(toolchain, lesson, lesson.solution(), Backend::cpu); }
};

}  // namespace

TEST_CASE("a kernel is built anew after its precompiled prelude, and without one", "[cli][kernel_build]") {
  BuildFixture f;
  const BuildOutcome first = f.build();
  REQUIRE(first.ok());
  CHECK_FALSE(first.from_cache);
  CHECK(f.build().from_cache);
  if (!fs::exists(f.prelude)) return;  // the compiler has no use for one

  const fs::path precompiled = f.prelude / "simt_prelude.h.gch";
  fs::last_write_time(precompiled, fs::last_write_time(precompiled) + std::chrono::seconds(1));
  CHECK_FALSE(f.build().from_cache);
  CHECK(f.build().from_cache);

  write_file_atomically(precompiled, "of another compiler");
  const BuildOutcome unfit = f.build();
  CHECK(unfit.ok());
  CHECK_FALSE(unfit.from_cache);

  fs::remove_all(f.prelude);
  const BuildOutcome without = f.build();
  CHECK(without.ok());
  CHECK_FALSE(without.from_cache);
}

TEST_CASE("the precompiled prelude is taken in every flavour", "[cli][kernel_build]") {
  BuildFixture f;
  if (!fs::exists(f.prelude)) return;  // the compiler has no use for one
  const std::vector<fs::path> kernels = {f.changed("one.cu", "\n", "\n"), f.changed("two.cu", "\n", "\n")};
  for (const Flavour flavour : {Flavour::run, Flavour::check, Flavour::quick}) {
    for (const BuildOutcome& outcome :
         {build_kernel(f.toolchain, f.lesson, f.lesson.solution(), Backend::cpu, flavour),
          build_kernels(f.toolchain, f.lesson, kernels, flavour).front()}) {
      INFO(outcome.message);
      REQUIRE(outcome.ok());
    }
  }
  int notes = 0;
  for (const auto& file : fs::directory_iterator(f.toolchain.binary_dir / "kernels")) {
    if (file.path().extension() != ".json") continue;
    ++notes;
    // The compiler names the headers that it reads, but none that comes precompiled.
    CHECK_THAT(read_file(file.path()), !ContainsSubstring("simt_prelude.h"));
  }
  CHECK(notes > 0);
}

TEST_CASE("no macro is there in one mode alone, by which a kernel could tell it", "[cli][kernel_build]") {
  const BuildFixture f;
  const CpuToolchain& cpu = f.toolchain.cpu.value();
  if (cpu.prelude.empty()) return;  // another compiler, which has no macro for what watches code
  const auto macros = [&](Flavour flavour) {
    Command command;
    command.arguments = {cpu.compiler, "-dM",
                         "-E",         "-x",
                         "c++",        "/dev/null",
                         "-I",         "common/simt/shim",
                         "-I",         "common",
                         "-include",   "simt_prelude.h",
                         "-include",   "simt_hide_mode.h"};
    const std::vector<std::string> flags = cpu.compile_flags(flavour);
    command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
    command.directory = f.toolchain.source_dir;
    command.output_limit = std::size_t{16} << 20;
    const CommandResult result = run_command(command);
    REQUIRE(result.ok());
    std::istringstream lines(result.output);
    std::set<std::string> names;
    for (std::string define, name, rest; lines >> define >> name && std::getline(lines, rest);)
      names.insert(name.substr(0, name.find('(')));
    return names;
  };
  const std::set<std::string> run = macros(Flavour::run), check = macros(Flavour::check);
  CHECK(run.contains("SIMT_NAME_SHARED"));
  std::vector<std::string> different;
  std::set_symmetric_difference(run.begin(), run.end(), check.begin(), check.end(),
                                std::back_inserter(different));
  CHECK(different == std::vector<std::string>{});
}

TEST_CASE("a kernel with words that are no CUDA C++ is not built, for neither mode", "[cli][kernel_build]") {
  BuildFixture f;
  const std::string kernel = "__global__ void vector_add_kernel";
  const fs::path file = f.changed("flattened.cu", kernel, "__attribute__((flatten))\n" + kernel);
  for (const Flavour flavour : {Flavour::run, Flavour::check})
    CHECK_THAT(build_kernel(f.toolchain, f.lesson, file, Backend::cpu, flavour).message,
               ContainsSubstring("has no __attribute__"));
}

TEST_CASE("kernels that are built together have a library each, and one that does not compile harms no other",
          "[cli][kernel_build]") {
  BuildFixture f;
  const std::string sum = "    c[i] = a[i] + b[i];\n", include = "#include <cuda_runtime.h>\n";
  const std::vector<fs::path> right = {f.changed("right.cu", sum, sum),
                                       f.changed("minus.cu", sum, "    c[i] = a[i] - b[i];\n"),
                                       f.changed("include.cu", include, include + "#include <cmath>\n")};
  const std::vector<BuildOutcome> built = build_kernels(f.toolchain, f.lesson, right, Flavour::quick);
  REQUIRE(built.size() == right.size());
  std::vector<fs::path> libraries;
  for (const BuildOutcome& outcome : built) {
    INFO(outcome.message);
    REQUIRE(outcome.ok());
    const std::string content = read_file(outcome.library);
    CHECK_THAT(content, ContainsSubstring("course_entries"));
    libraries.push_back(outcome.library);
  }
  CHECK_THAT(read_file(libraries[1]), ContainsSubstring("minus.cu"));
  std::sort(libraries.begin(), libraries.end());
  CHECK(std::unique(libraries.begin(), libraries.end()) == libraries.end());

  std::vector<fs::path> with_broken = right;
  with_broken.push_back(f.changed("broken.cu", sum, "    c[i] = a[i] + d[i];\n"));
  with_broken.push_back(f.changed("late.cu", sum, sum + "    // late\n"));
  const std::vector<BuildOutcome> again = build_kernels(f.toolchain, f.lesson, with_broken, Flavour::quick);
  for (std::size_t i = 0; i < right.size(); ++i) CHECK(again[i].from_cache);
  CHECK_THAT(again[3].message, ContainsSubstring("broken.cu"));
  CHECK(again[4].ok());
}
