#include "classroom/gradescope_table.hpp"

#include "class_folder.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::test;
using Strings = std::vector<std::string>;

namespace {

// What a student's program printed stands in Gradescope's results, and may look like anything.
constexpr const char* kTable =
    "---\n"
    "submission_11:\n"
    "  :submitters:\n"
    "  - :name: Ada Lovelace\n"
    "    :sid: '1001'\n"
    "    :email: ada@example.edu\n"
    "  :created_at: 2026-11-20 12:00:00.000000000 Z\n"
    "  :results:\n"
    "    output: |-\n"
    "      submission_12:\n"
    "      :submitters:\n"
    "      - :name: Grace Hopper\n"
    "  - :name: Grace Hopper\n"
    "submission_12:\n"
    "  :submitters:\n"
    "  - :name: \"G\\u00e9rard \\\"G\\\" O'Neil\"\n"
    "    :sid:\n"
    "    :email: gerard@example.edu\n"
    "  - :name: 'Mary O''Hara'\n"
    "    :sid: ''\n"
    "  :created_at: 2026-11-20 12:00:00.000000000 Z\n"
    "submission_13:\n"
    "  :submitters: []\n";

}  // namespace

TEST_CASE("Gradescope's table names those who handed in a folder, alone or together",
          "[classroom][submissions]") {
  const auto table = read_gradescope_table(kTable);
  REQUIRE(table.size() == 2);
  CHECK(table.at("submission_11") == std::vector<Submitter>{{"Ada Lovelace", "1001"}});
  CHECK(table.at("submission_12") ==
        std::vector<Submitter>{{"G\u00e9rard \"G\" O'Neil", "gerard@example.edu"}, {"Mary O'Hara", ""}});
}

TEST_CASE("Gradescope's students with one name and number are told apart by their addresses",
          "[classroom][submissions]") {
  const auto of = [](const std::string& folder, const std::string& address) {
    return folder + ":\n  :submitters:\n  - :name: Bo\n    :sid: '77'\n    :email: " + address + "\n";
  };
  const auto table = read_gradescope_table(of("submission_1", "bo@x") + of("submission_2", "mallory@x"));
  CHECK(table.at("submission_1") == std::vector<Submitter>{{"Bo", "bo@x"}});
  CHECK(table.at("submission_2") == std::vector<Submitter>{{"Bo", "mallory@x"}});
  const auto twice = read_gradescope_table(of("submission_1", "bo@x") + of("submission_2", "bo@x"));
  CHECK(twice.at("submission_2") == std::vector<Submitter>{{"Bo", "77"}});
}

TEST_CASE("a table of another form names nobody", "[classroom][submissions]") {
  for (const char* text : {"", "submission_11:", "submission_11: {}\n", "- :name: Ada\n",
                           "submission_11:\n  :submitters:\n  - :name: |\n      Ada\n",
                           "submission_11:\n  :submitters:\n  - :name: \"Ada\n",
                           "submission_11:\n  :submitters:\n    :name: Ada\n",
                           "submission_11:\n  :submitters_old:\n  - :name: Ada\n"}) {
    CAPTURE(text);
    CHECK(read_gradescope_table(text).empty());
  }
}

TEST_CASE("folders of Gradescope belong to whom its table says, and the others are listed",
          "[classroom][submissions]") {
  ClassFolder folder;
  folder.write("submission_metadata.yml", kTable);
  folder.write("submission_11/01_vector_add.cu", "add");
  folder.write("submission_12/01_vector_add.cu", "together");
  folder.write("submission_99/01_vector_add.cu", "unknown");
  const auto students = folder.read();
  REQUIRE(names(students) ==
          Strings{"Ada Lovelace", "G\u00e9rard \"G\" O'Neil", "Mary O'Hara", "submission_99"});
  CHECK(students[0].id == "1001");
  CHECK(students[1].by_lesson.at(1).content == "together");
  CHECK(students[2].by_lesson.at(1).content == "together");
  CHECK(folder.notes ==
        Strings{"submission_99 has no name in submission_metadata.yml, and is listed as it is called."});
}

TEST_CASE("a zip of Gradescope's has its table, too", "[classroom][submissions]") {
  ClassFolder folder;
  const auto zip = folder.beside("export.zip");
  ClassFolder::zip(
      zip, {{"export/submission_metadata.yml", kTable}, {"export/submission_11/vector_add.cu", "add"}});
  const auto students = folder.read(zip);
  REQUIRE(names(students) == Strings{"Ada Lovelace"});
  CHECK(students[0].by_lesson.at(1).content == "add");
}
