#include "grading/build/kernel_build.hpp"

#include <chrono>

#include "grading/base/subprocess.hpp"
#include "grading/project/lesson.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::grading;

namespace {

/// The project's own lesson 01, built into an empty cache with a copy of the precompiled prelude.
struct Fixture {
  ScratchFolder folder{fs::temp_directory_path()};
  Toolchain toolchain = Toolchain::read(COURSE_TOOLCHAIN);
  Lesson lesson = select_lessons(read_lessons(toolchain.source_dir), {"01"}).front();
  fs::path prelude = folder.path() / "prelude";

  Fixture() {
    toolchain.binary_dir = folder.path();
    fs::create_directories(folder.path() / "kernels");
    if (toolchain.cpu.value().prelude.empty()) return;
    fs::copy(toolchain.cpu->prelude, prelude, fs::copy_options::recursive);
    toolchain.cpu->prelude = prelude;
  }

  BuildOutcome build() { return build_kernel(toolchain, lesson, lesson.solution(), Backend::cpu); }
};

}  // namespace

TEST_CASE("a kernel is built anew after its precompiled prelude, and without one", "[cli][kernel_build]") {
  Fixture f;
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
