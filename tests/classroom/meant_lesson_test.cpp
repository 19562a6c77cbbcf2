#include "classroom/meant_lesson.hpp"

#include "class_folder.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;

TEST_CASE("a name that comes near a lesson's means it", "[classroom][submissions]") {
  const auto meant = [](const std::string& name) { return meant_lesson(name, some_lessons()); };
  for (const char* name :
       {"vectoradd.cu", "VectorAdd.cu", "vecotr_add.cu", "my_vector_add.cpp", "02_vector_add.cu",
        "vector_add.cu.txt", "vector_add.pdf", "lesson1.cu", "01.cu", "ex_01.zip", "HW1.cu"}) {
    CAPTURE(name);
    CHECK(meant(name) == "01_vector_add");
  }
  CHECK(meant("flash1forward_new.cu") == "08_flash1_forward");
  CHECK(meant("onlinesoftmax.cu") == "05_online_softmax");
  for (const char* name :
       {"foo.cu", "report.pdf", "a.cu", "lesson7.cu", "test_1_5.cu", ".cu", "", "main1.cu"}) {
    CAPTURE(name);
    CHECK(meant(name).empty());
  }
}

TEST_CASE("of lessons with similar names, the number decides, or none is meant", "[classroom][submissions]") {
  const std::vector<course::grading::Lesson> lessons{lesson(9, "flash2_forward"), lesson(8, "flash1_forward"),
                                                     lesson(15, "flash2_backward")};
  CHECK(meant_lesson("flashforward.cu", lessons).empty());
  CHECK(meant_lesson("flash_forward_9.cu", lessons) == "09_flash2_forward");
  CHECK(meant_lesson("flash2forward.cu", lessons) == "09_flash2_forward");
  CHECK(meant_lesson("flash_backward.cu", lessons) == "15_flash2_backward");
}

TEST_CASE("what a file is that is no source is told by its name and by its first bytes",
          "[classroom][submissions]") {
  CHECK(format_by_name("01_vector_add.PDF") == "a PDF");
  CHECK(format_by_name("work.tar.gz") == "an archive that is not unpacked");
  CHECK(is_foreign_archive("work.7z"));
  CHECK_FALSE(is_foreign_archive("work.zip"));
  CHECK(format_by_name("01_vector_add.cu").empty());
  CHECK(format_by_content("%PDF-1.7\n...") == "a PDF");
  CHECK(format_by_content(std::string("PK\x03\x04...", 7)) == "a zip or a document of a word processor");
  CHECK(format_by_content(std::string("\xff\xfe#\0", 4)) == "a text in UTF-16");
  CHECK(format_by_content("\xff\xfe").empty());
  CHECK(format_by_content("\n  <!DOCTYPE html>\n<html>") == "a web page");
  CHECK(format_by_content("#include \"vector_add.hpp\"\n").empty());
  CHECK(format_by_content("").empty());
}

TEST_CASE("files that counted for no lesson are listed on one line", "[classroom][submissions]") {
  CHECK(uncounted_list({{"vectoradd.cu", "", "01_vector_add"}, {"foo.cu", "", ""}}) ==
        "vectoradd.cu, probably 01_vector_add.cu; foo.cu");
  CHECK(uncounted_list({}).empty());
  const std::vector<UncountedFile> many(12, {"a.cu", "", ""});
  CHECK(uncounted_list(many).ends_with("; a.cu; and 2 more"));
}
