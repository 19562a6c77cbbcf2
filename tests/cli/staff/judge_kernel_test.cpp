#include "cli/staff/judge_kernel.hpp"

#include <algorithm>

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kFirst =
    "  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;\n";
const std::string kStride =
    "  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;  // threads in the grid\n";
const std::string kOnlyBlock0 =
    "\nreplace:\n" + kFirst + "with:\n  const std::int64_t first = threadIdx.x;\n";
const std::string kEachTwice =
    "\nreplace:\n" + kFirst + kStride +
    "with:\n"
    "  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 2;\n"
    "  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x / 2;\n";
const std::string kHarmless = "\nreplace:\n" + kFirst + "with:\n\n" + kFirst;

/// Mutants of the project's own lesson 01, judged with an empty cache of kernels.
struct QuickJudge {
  ScratchFolder folder{fs::temp_directory_path()};
  Toolchain toolchain = Toolchain::read(COURSE_TOOLCHAIN);
  Lesson lesson = select_lessons(read_lessons(toolchain.source_dir), {"01"}).front();

  QuickJudge() {
    toolchain.binary_dir = folder.path();
    fs::create_directories(folder.path() / "kernels");
  }

  Variant mutant(const std::string& keys_and_edits) {
    const fs::path file = folder.path() / "one.mutant";
    write_file_atomically(file, "Something is wrong.\n\n" + keys_and_edits);
    return {VariantKind::mutant, "mutant/one", file};
  }

  Purpose quick_purpose(const Variant& variant, Backend backend = Backend::cpu) {
    return quick_source(lesson, variant, {}, backend).purpose;
  }

  Judgement judge_quickly(const Variant& variant) {
    const CheckOptions options;
    const fs::path file = kernel_of(variant, lesson, folder.path() / "mutants");
    KernelSource kernel = quick_source(lesson, variant, file, options.backend);
    for (;; kernel.purpose = Purpose::outputs_and_check) {
      KernelQueue queue(toolchain, {kernel}, options);
      const auto judgement = judge_kernel(toolchain, queue, 0, kernel, variant, options, true);
      if (judgement) return *judgement;
    }
  }

  std::ptrdiff_t libraries_built() const {
    const fs::recursive_directory_iterator files(folder.path() / "kernels");
    return std::count_if(begin(files), end(files),
                         [](const fs::directory_entry& file) { return file.path().extension() == ".so"; });
  }
};

}  // namespace

TEST_CASE("a mutant that run mode rejects is not built for check mode", "[cli][judge_kernel]") {
  QuickJudge f;
  const Variant variant = f.mutant("diagnosis: first_block_only\nexpect: never written\n" + kOnlyBlock0);
  CHECK(f.quick_purpose(variant) == Purpose::outputs);
  const Judgement judgement = f.judge_quickly(variant);
  INFO(judgement.reason);
  CHECK(judgement.as_expected);
  CHECK(f.libraries_built() == 1);
}

TEST_CASE("a mutant that only counters reject is judged by both modes", "[cli][judge_kernel]") {
  QuickJudge f;
  const Variant variant = f.mutant("expect: Each element of a and of b should be read once\n" + kEachTwice);
  CHECK(f.quick_purpose(variant) == Purpose::outputs);
  const Judgement judgement = f.judge_quickly(variant);
  INFO(judgement.reason);
  CHECK(judgement.as_expected);
  CHECK(f.libraries_built() == 2);
}

TEST_CASE("a mutant that passes in both modes is told so", "[cli][judge_kernel]") {
  QuickJudge f;
  const Judgement judgement = f.judge_quickly(f.mutant("expect: anything\n" + kHarmless));
  CHECK_FALSE(judgement.as_expected);
  CHECK_THAT(judgement.reason, ContainsSubstring("should be rejected, but passes"));
  CHECK(f.libraries_built() == 2);
}

TEST_CASE("quick judgement runs the case alone that a mutant names", "[cli][judge_kernel]") {
  QuickJudge f;
  const std::string keys = "expect: never written\ncase: ";
  const Judgement large =
      f.judge_quickly(f.mutant(keys + "adds 255, 256, 257 and 1000 numbers\n" + kOnlyBlock0));
  INFO(large.reason);
  CHECK(large.as_expected);
  const Judgement small =
      f.judge_quickly(f.mutant(keys + "adds the ten numbers of the notes\n" + kOnlyBlock0));
  CHECK_THAT(small.reason, ContainsSubstring("should be rejected, but passes"));
  const Judgement none = f.judge_quickly(f.mutant(keys + "adds nothing\n" + kOnlyBlock0));
  CHECK_FALSE(none.as_expected);
  CHECK_THAT(none.reason, ContainsSubstring("adds nothing"));
}

TEST_CASE("what a mutant's file says only check mode can tell goes to both modes at once",
          "[cli][judge_kernel]") {
  QuickJudge f;
  for (const std::string keys : {"diagnosis: race\nexpect: x\n", "expect: x\nexpect-gpu: nothing\n"})
    CHECK(f.quick_purpose(f.mutant(keys + kHarmless)) == Purpose::outputs_and_check);
}

TEST_CASE("run mode alone settles no correct kernel, and a GPU knows no other mode", "[cli][judge_kernel]") {
  QuickJudge f;
  const Variant stub{VariantKind::stub, "stub", {}};
  CHECK(f.quick_purpose(stub) == Purpose::outputs);
  CHECK(f.quick_purpose(stub, Backend::gpu) == Purpose::outputs_and_check);
  for (const VariantKind kind : {VariantKind::solution, VariantKind::alternative})
    CHECK(f.quick_purpose({kind, "any", {}}) == Purpose::outputs_and_check);
}

TEST_CASE("only mutants are compiled without much optimising, and only in the simulator",
          "[cli][judge_kernel]") {
  QuickJudge f;
  const Variant mutant = f.mutant("expect: x\n" + kHarmless);
  CHECK(quick_source(f.lesson, mutant, {}, Backend::cpu).quickly);
  CHECK_FALSE(quick_source(f.lesson, mutant, {}, Backend::gpu).quickly);
  for (const VariantKind kind : {VariantKind::stub, VariantKind::solution, VariantKind::alternative})
    CHECK_FALSE(quick_source(f.lesson, {kind, "any", {}}, {}, Backend::cpu).quickly);
}
