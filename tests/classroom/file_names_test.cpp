#include "classroom/file_names.hpp"

#include "class_folder.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using course::test::lesson;
using course::test::some_lessons;

namespace {

int lesson_number(const std::string& name, const std::vector<std::string>& folders = {}) {
  const auto found = lesson_of(name, folders, some_lessons());
  return found ? found->lesson : 0;
}

std::uint64_t version(const std::string& name) {
  const auto found = lesson_of(name, {}, some_lessons());
  REQUIRE(found);
  CHECK(found->lesson == 1);
  return found->version;
}

}  // namespace

TEST_CASE("a file is for the lesson that its name has", "[classroom][names]") {
  CHECK(lesson_number("01_vector_add.cu") == 1);
  CHECK(lesson_number("vector_add.cu") == 1);
  CHECK(lesson_number("05_online_softmax.cu") == 5);
  CHECK(lesson_number("Vector_Add.CU") == 1);
  CHECK(lesson_number("01-vector-add.cu") == 1);
  CHECK(lesson_number("flash1_forward.cu") == 8);
  CHECK(lesson_number("flash1_forward-2.cu") == 8);
}

TEST_CASE("other names are for no lesson", "[classroom][names]") {
  for (const char* name :
       {"02_vector_add.cu", "vector_add", "vector_add.cpp", "vector.cu", "add.cu", ".cu", "_.cu", "()",
        "().cu", "01.cu", "my_vector_add.cu", "vector_add_old.cu", "vector_add1.cu", "flash1.cu",
        "vector_add_12345678901.cu", "vector_add.cu.txt", "01_.cu", ""}) {
    CAPTURE(name);
    CHECK(lesson_number(name) == 0);
  }
}

TEST_CASE("versions in names are numbers that grow", "[classroom][names]") {
  CHECK(version("01_vector_add.cu") == 0);
  CHECK(version("01_vector_add-2.cu") == 2);
  CHECK(version("01_vector_add (3).cu") == 3);
  CHECK(version("vector_add(4).cu") == 4);
  CHECK(version("vector_add_v5.cu") == 5);
  CHECK(version("vector_add_V12.cu") == 12);
  CHECK(version("vector_add (copy).cu") == 1);
  CHECK(version("vector_add - Copy (2).cu") == 3);
  CHECK(version("Copy of vector_add.cu") == 0);
  CHECK(version("vector_add_final.cu") > version("vector_add_999999999.cu"));
  CHECK(version("vector_add_final_2.cu") > version("vector_add_final.cu"));
}

TEST_CASE("the folder decides between lessons of the same name", "[classroom][names]") {
  const std::vector lessons{lesson(1, "softmax"), lesson(2, "softmax")};
  CHECK(lesson_of("softmax.cu", {}, lessons)->lesson == 1);
  CHECK(lesson_of("softmax.cu", {"work", "02_softmax"}, lessons)->lesson == 2);
  CHECK(lesson_of("02_softmax.cu", {"01_softmax"}, lessons)->lesson == 2);
}

TEST_CASE("Canvas's names say student, user, lateness and file", "[classroom][names]") {
  const auto plain = parse_canvas_name("lovelaceada_12345_67890_01_vector_add-2.cu");
  REQUIRE(plain);
  CHECK(plain->student == "lovelaceada");
  CHECK(plain->id == "12345");
  CHECK_FALSE(plain->late);
  CHECK(plain->file == "01_vector_add-2.cu");
  const auto late = parse_canvas_name("lovelaceada_LATE_12345_67890_01_vector_add.cu");
  REQUIRE(late);
  CHECK(late->late);
  CHECK(late->id == "12345");
  CHECK(parse_canvas_name("lovelaceada_late_1_2_a.cu")->late);
  CHECK(parse_canvas_name("de_la_cruz_12_34_a.cu")->student == "de_la_cruz");
  CHECK(parse_canvas_name("anonymous_xY3zA_678_a.cu")->id == "xY3zA");
  for (const char* name :
       {"01_vector_add.cu", "ada_12345.cu", "_1_2_a.cu", "ada_1_2_", "ada_1_a.cu", "ada", ""}) {
    CAPTURE(name);
    CHECK_FALSE(parse_canvas_name(name));
  }
  CHECK(version("lovelaceada_LATE_12345_67890_01_vector_add-2.cu") == 2);
}

TEST_CASE("Moodle's names say student, participant and file", "[classroom][names]") {
  const auto folder = parse_moodle_folder("Ada Lovelace_123456_assignsubmission_file");
  REQUIRE(folder);
  CHECK(folder->student == "Ada Lovelace");
  CHECK(folder->id == "123456");
  CHECK(folder->file.empty());
  CHECK(parse_moodle_folder("Ada_King_7_assignsubmission_file_")->student == "Ada_King");
  // A student may be called like another's folder. Behind a folder's mark, nothing is the student's own.
  const auto own = parse_moodle_folder("Ada_7_assignsubmission_file_x_9_assignsubmission_file");
  REQUIRE(own);
  CHECK((own->student == "Ada_7_assignsubmission_file_x" && own->id == "9"));
  CHECK_FALSE(parse_moodle_folder("Ada"));
  CHECK(parse_moodle_name("Ada_7_assignsubmission_file_01_vector_add.cu")->file == "01_vector_add.cu");
  CHECK(parse_moodle_name("Ada_7_assignsubmission_onlinetext")->id == "7");
  // A name may have in it what Moodle writes behind names, and what Canvas does.
  const std::string odd = "E_1_2_x_assignsubmission_y_7_assignsubmission_file_a.cu";
  CHECK(parse_moodle_name(odd)->student == "E_1_2_x_assignsubmission_y");
  CHECK(platform_of({odd, "Ada_8_assignsubmission_file_a.cu"}) == Platform::moodle);
  for (const char* name :
       {"Ada", "Ada_assignsubmission_file", "_7_assignsubmission_file", "Ada_x_assignsubmission_file"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_moodle_name(name));
  }
  CHECK(version("Ada Lovelace_7_assignsubmission_file_vector_add (2).cu") == 2);
}

TEST_CASE("what systems and tools leave behind is hidden, a student of dots is not", "[classroom][names]") {
  CHECK(is_hidden(".git"));
  CHECK(is_hidden(".DS_Store"));
  CHECK(is_hidden("__MACOSX"));
  CHECK_FALSE(is_hidden("..."));
  CHECK_FALSE(is_hidden("ada"));
}

TEST_CASE("names with .cu before their end are noticed", "[classroom][names]") {
  CHECK(had_suffix_cu("01_vector_add.cu.txt"));
  CHECK(had_suffix_cu("vector_add.CU~"));
  CHECK(had_suffix_cu("vector_add.cu (1)"));
  CHECK_FALSE(had_suffix_cu("vector_add.cuh"));
  CHECK_FALSE(had_suffix_cu("vector_add.cu"));
  CHECK_FALSE(had_suffix_cu("notes.txt"));
}

TEST_CASE("names in sentences stay on one line and short", "[classroom][names]") {
  CHECK(shown("a/b c.cu") == "a/b c.cu");
  CHECK(shown("a\nb\x1b[2J") == "a\\nb\\x1b[2J");
  CHECK(shown(std::string(1000, 'x')).size() < 210);
  CHECK(shown_list({"a", "b"}) == "a, b");
  CHECK(shown_list(std::vector<std::string>(11, "x")) == "x, x, x, x, x, x, x, x, x, x and 1 other");
}

TEST_CASE("what a student puts behind the platform's part names nobody else") {
  const std::string crafted = "mallory_12345_678_Ada Lovelace_99_assignsubmission_file_01_vector_add.cu";
  CHECK(parse_platform_name(crafted)->student == "mallory");
  CHECK(parse_platform_name(crafted)->id == "12345");
  const std::string other = "Mallory_7_assignsubmission_file_lovelaceada_12_34_01_vector_add.cu";
  CHECK(parse_platform_name(other)->student == "Mallory");
  CHECK(parse_platform_name(other)->id == "7");
}

TEST_CASE("what only one platform can have made tells the platform of a class") {
  CHECK(platform_of({"ada_1_2_a.cu", "mallory_3_4_Ada_9_assignsubmission_file_a.cu"}) == Platform::canvas);
  CHECK(platform_of({"Ada_1_assignsubmission_file_a.cu", "notes.txt"}) == Platform::moodle);
  CHECK_FALSE(platform_of({"Ada Lovelace", "Grace Hopper.zip"}));
  const std::string name =
      "Ada_1_2_b_3_assignsubmission_file_a.cu";  // of a student of Moodle's called "Ada_1_2_b"
  CHECK(parse_platform_name(name, Platform::moodle)->student == "Ada_1_2_b");
  CHECK(parse_platform_name(name, Platform::canvas)->student == "Ada");
}
