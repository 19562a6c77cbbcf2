#include "classroom/similarity.hpp"

#include "class_folder.hpp"
#include "grading/base/machine_error.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;
using course::grading::read_file;
namespace fs = std::filesystem;

namespace {

Student student(const std::string& name, const std::map<int, std::string>& contents) {
  Student result;
  result.name = name;
  for (const auto& [number, content] : contents) result.by_lesson[number].content = content;
  return result;
}

/// All files below a folder, sorted.
std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("the export has each lesson's files and its stub", "[classroom][similarity]") {
  const TemporaryFolder folder;
  Student refused = student("cy", {{1, ""}});
  refused.by_lesson[1].problem = "01_vector_add.cu is empty.";
  export_for_similarity(folder / "out",
                        {student("ada", {{1, "a"}, {5, "b"}}), student("bo", {{1, "c"}}), refused},
                        some_lessons());
  CHECK(files_in(folder / "out") ==
        std::vector<std::string>{
            "01_vector_add/base/01_vector_add.cpp", "01_vector_add/submissions/ada/01_vector_add.cpp",
            "01_vector_add/submissions/bo/01_vector_add.cpp", "05_online_softmax/base/05_online_softmax.cpp",
            "05_online_softmax/submissions/ada/05_online_softmax.cpp", "exported_files.txt"});
  CHECK(read_file(folder / "out/01_vector_add/submissions/bo/01_vector_add.cpp") == "c");
  CHECK(read_file(folder / "out/01_vector_add/base/01_vector_add.cpp") ==
        read_file(some_lessons()[0].stub()));
}

TEST_CASE("an older export is replaced, and nothing else removed", "[classroom][similarity]") {
  const TemporaryFolder folder;
  export_for_similarity(folder.path(), {student("ada", {{1, "a"}, {5, "b"}}), student("bo", {{1, "c"}})},
                        some_lessons());
  std::ofstream(folder / "01_vector_add/results.jplag") << "mine";
  export_for_similarity(folder.path(), {student("bo", {{8, "new"}})}, some_lessons());
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{
            "01_vector_add/results.jplag", "08_flash1_forward/base/08_flash1_forward.cpp",
            "08_flash1_forward/submissions/bo/08_flash1_forward.cpp", "exported_files.txt"});
  CHECK_FALSE(fs::exists(folder / "05_online_softmax"));
}

TEST_CASE("a marker cannot make the export remove files elsewhere", "[classroom][similarity]") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "out/kept");
  fs::create_directory_symlink(folder / "other", folder / "out/link");
  fs::create_directory(folder / "other");
  for (const char* name : {"outside.txt", "other/file.txt"}) std::ofstream(folder / name) << "x";
  const std::string outside = (folder / "outside.txt").string();
  std::ofstream(folder / "out/exported_files.txt")
      << "Files of this export, which the next one replaces:\n../outside.txt\n"
      << outside << "\nlink/file.txt\nkept\n";
  export_for_similarity(folder / "out", {}, some_lessons());
  CHECK(fs::exists(outside));
  CHECK(fs::exists(folder / "other/file.txt"));
  CHECK(fs::is_directory(folder / "out/kept"));
}

TEST_CASE("the same submissions give the same export, whatever the students are called",
          "[classroom][similarity]") {
  const TemporaryFolder folder;
  const std::vector<Student> students{student("../../up", {{1, "a"}}), student("=cmd", {{1, "b"}}),
                                      student("a\nb", {{1, "c"}}), student("\xff", {{1, "d"}})};
  export_for_similarity(folder / "out", students, some_lessons());
  const auto files = files_in(folder / "out");
  CHECK(files.size() == 6);
  CHECK(folder.names() == std::set<std::string>{"out"});
  const std::string marker = read_file(folder / "out/exported_files.txt");
  export_for_similarity(folder / "out", students, some_lessons());
  CHECK(files_in(folder / "out") == files);
  CHECK(read_file(folder / "out/exported_files.txt") == marker);
}

TEST_CASE("an export that cannot be written is the machine's problem", "[classroom][similarity]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_AS(export_for_similarity(folder / "file", {student("ada", {{1, "a"}})}, some_lessons()),
                  course::grading::MachineError);
}
