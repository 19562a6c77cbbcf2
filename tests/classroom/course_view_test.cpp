#include "classroom/course_view.hpp"

#include <set>
#include <string>

#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

using namespace course;
namespace fs = std::filesystem;

namespace {

/// Every file of the view of one lesson.
std::set<std::string> files_of_view(const std::string& lesson) {
  const auto lessons = grading::read_lessons(COURSE_TEST_SOURCE_DIR);
  const grading::ScratchFolder folder(fs::temp_directory_path());
  const fs::path view = folder.path() / "view";
  classroom::make_course_view(view, grading::select_lessons(lessons, {lesson}).front(), lessons);
  CHECK(fs::is_directory(view / "submission"));
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(view))
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(view).string());
  return files;
}

}  // namespace

TEST_CASE("a submission sees its contract and CUDA's headers, and no solution or reference") {
  const auto files = files_of_view("06");
  CHECK(files.contains("lessons/06_block_matmul/block_matmul.hpp"));
  CHECK(files.contains("common/simt/shim/cuda_runtime.h"));
  CHECK(files.contains("common/device/cuda_check.hpp"));
  for (const std::string& file : files) {
    INFO(file);
    CHECK_FALSE(file.ends_with(".cu"));
    CHECK(file.find("common/reference") == std::string::npos);
    CHECK(file.find("solutions") == std::string::npos);
  }
}

TEST_CASE("a header that the course makes of a lesson's solution is not there before the lesson after it") {
  CHECK_FALSE(files_of_view("06").contains("common/device/tile_matmul.hpp"));
  CHECK(files_of_view("09").contains("common/device/tile_matmul.hpp"));
  CHECK_FALSE(files_of_view("09").contains("common/device/flash_backward.hpp"));
  CHECK(files_of_view("17").contains("common/device/tile_matmul.hpp"));
}

TEST_CASE("a view has the headers that its headers include") {
  CHECK(files_of_view("09").contains("common/tensor/view.hpp"));
}

TEST_CASE("a file that includes a header of a later lesson is told so") {
  const auto lessons = grading::read_lessons(COURSE_TEST_SOURCE_DIR);
  const grading::Lesson first = grading::select_lessons(lessons, {"01"}).front();
  const auto explain = [&](const std::string& header) {
    return classroom::explain_missing_header("x.cu:1: " + header + ": No such file or directory", first);
  };
  CHECK(
      explain("device/tile_matmul.hpp") ==
      "device/tile_matmul.hpp belongs to a later lesson. A file of lesson 01 is graded with what the course "
      "has up to there.");
  CHECK(explain("device/no_such_header.hpp").empty());
  CHECK(explain("device/../grading/entry.hpp").empty());
  CHECK(classroom::explain_missing_header("x.cu:1: expected ;", first).empty());
}
