#include <filesystem>
#include <set>

#include "cli/diagnostic_pages.hpp"
#include "cli/known_mistakes.hpp"
#include "cli/markdown.hpp"
#include "cli/report_sections.hpp"
#include "cli/told_mistakes.hpp"
#include "grading/base/near_names.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course::cli;
using course::grading::near_names;

namespace {

const std::filesystem::path kProject = COURSE_PROJECT;

std::vector<std::string> names_of(const std::vector<DiagnosticPage>& pages) {
  std::vector<std::string> names;
  for (const DiagnosticPage& page : pages) names.push_back(page.name);
  return names;
}

}  // namespace

TEST_CASE("a class is known however it is written", "[cli][explain]") {
  CHECK(diagnostic_name("race:") == "race");
  CHECK(diagnostic_name("Bank-Conflict") == "bank_conflict");
  CHECK(diagnostic_name(" out of  bounds ") == "out_of_bounds");
  CHECK(diagnostic_name("-_-").empty());
}

TEST_CASE("every page of the folder is in the index, with its group and its meaning", "[cli][explain]") {
  const auto pages = diagnostic_pages(kProject);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kProject / "docs/diagnostics"))
    files.insert(entry.path().stem().string());
  std::set<std::string> listed;
  for (const DiagnosticPage& page : pages) {
    listed.insert(page.name);
    CHECK(std::filesystem::is_regular_file(page.file));
    CHECK_FALSE(page.group.empty());
    CHECK(page.meaning.ends_with('.'));
  }
  CHECK(listed == files);
}

TEST_CASE("the begin of a name is enough, and a whole name is never ambiguous", "[cli][explain]") {
  const std::vector<DiagnosticPage> pages = {
      {"race", "", "", ""}, {"bad_copy", "", "", ""}, {"bad_free", "", "", ""}, {"bad", "", "", ""}};
  CHECK(names_of(matching_pages(pages, "ra")) == std::vector<std::string>{"race"});
  CHECK(names_of(matching_pages(pages, "bad_")) == std::vector<std::string>{"bad_copy", "bad_free"});
  CHECK(names_of(matching_pages(pages, "bad")) == std::vector<std::string>{"bad"});
  CHECK(matching_pages(pages, "").empty());
  CHECK(matching_pages(pages, "traces").empty());
}

TEST_CASE("an unknown name is answered with near ones", "[cli][explain]") {
  const std::vector<course::grading::Candidate> known = {{"uninitialised_read", "uninitialised_read"},
                                                         {"race", "race"},
                                                         {"trap", "trap"},
                                                         {"out_of_bounds", "out_of_bounds"}};
  CHECK(near_names("uninitialized", known) == "uninitialised_read");
  CHECK(near_names("bounds", known) == "out_of_bounds");
  CHECK(near_names("rcae", known) == "race");
  CHECK(near_names("xyzzyxyzzy", known).empty());
}

namespace {

/// A project with lesson 01, one mutant of it, and its test program's place.
struct Project {
  course::test::TemporaryFolder folder;
  course::grading::Lesson lesson;
  course::grading::Toolchain toolchain;

  Project() {
    lesson.number = 1;
    lesson.name = "none";
    lesson.root = folder.path();
    toolchain.lessons[lesson.id()].test = folder / "01_none_test";
    std::filesystem::create_directories(folder / "tests/lessons/mutants/01_none");
    write(folder / "tests/lessons/mutants/01_none/half.mutant",
          "Half of it.\n\ndiagnosis: half\nexpect: words\n\nreplace:\n  a;\nwith:\n  b;\n");
  }
  static void write(const std::filesystem::path& file, const std::string& text) {
    course::grading::write_file_atomically(file, text);
  }
  KnownMistake find(const std::string& name) const { return find_mistake(toolchain, {lesson}, name); }
};

}  // namespace

TEST_CASE("a mistake is known by the tests that list it and by known-wrong kernels", "[cli][explain]") {
  const Project project;
  KnownMistake half = project.find("half");
  CHECK(half.kernels == std::vector<std::string>{"Half of it."});
  CHECK(half.sentences.empty());
  CHECK(half.not_built == std::set<int>{1});
  CHECK_FALSE(project.find("other").known());

  Project::write(mistakes_file(project.toolchain, project.lesson),
                 to_json_line(std::vector<course::grading::ListedMistake>{
                     {"half", {"This is half.", "This is half, too."}}, {"other", {"Another."}}}));
  half = project.find("half");
  CHECK(half.sentences == std::vector<std::string>{"This is half.", "This is half, too."});
  CHECK(half.lessons == std::set<int>{1});
  CHECK(half.not_built.empty());
  CHECK(project.find("other").known());
  CHECK(names_of_mistakes(project.toolchain, {project.lesson}) == std::set<std::string>{"half", "other"});
}

TEST_CASE("lists are the same after they were written and read", "[cli][explain]") {
  const std::vector<course::grading::ListedCase> cases{{"adds \"one\"", {"l01", "points:2"}, 2},
                                                       {"é", {}, 0}};
  CHECK(course::grading::listed_cases(to_json_line(cases)) == cases);
  CHECK_THROWS_WITH(course::grading::listed_cases("{\"version\":2,\"cases\":[]}"),
                    Catch::Matchers::ContainsSubstring("no list of cases"));
}

TEST_CASE("each sentence that a report begins with leads to a section", "[cli][explain]") {
  const auto sections = read_report_sections(kProject);
  const auto title = [&](const char* sentence) {
    const auto found = find_report_section(sections, sentence);
    return found ? found->title : "";
  };
  CHECK(title("never written") == "Never written");
  CHECK(title("c[10] was never written, expected 2. 5 of 15 elements were never written: the last 5.") ==
        "Never written");
  CHECK(title("nan") == "NaN");
  CHECK(title("y[0, 3] is NaN, but 2 was meant") == "NaN");
  CHECK(title("c[0] is 1, expected 2. 10 of 10 elements are wrong.") == "Wrong values");
  CHECK(title("Your code threw std::runtime_error in vector_add") == "Threw");
  CHECK(title("Your code returned, but was to throw std::invalid_argument") == "Threw");
  CHECK(title("vector_add never came back: it was still running after 10 s") == "Never came back");
  CHECK(title("Skipped: vector_add was not called, because 2 calls before this one never came back.") ==
        "Never came back");
  CHECK(title("Skipped: vector_add was not called, because 4 calls before this one held too much memory.") ==
        "Too much memory");
  CHECK(title("Your host code crashed in vector_add") == "The process ended");
  CHECK(title("Your code ended the whole program in f, with exit status 0.") == "The process ended");
  CHECK(title("Your code wrote 1 element past the end of c") == "Guard broken");
  CHECK(title("Your code changed its input a: 1 element") == "Input changed");
  CHECK(title("1 device allocation (4000 bytes) is never freed") == "Leaked");
  CHECK(title("warnings") == "Warnings");
  CHECK(title("not_checked") == "Not checked");
  CHECK(title("no simple pattern") == "Wrong values");
  CHECK(title("Two mistakes give exactly these numbers") == "Two mistakes, and \"that is what tiles give\"");
  CHECK(title("That is what tiles of 64 give") == "Two mistakes, and \"that is what tiles give\"");
  CHECK(title("dQ[0, 0] is 1, but central differences give 2") == "Central differences");
  CHECK(title("counted in whole sectors") == "Reads too many bytes, in whole sectors");
  CHECK(title("sectors") == "Reads too many bytes, in whole sectors");
  CHECK(title("The call did something else when it ran once more") == "Did something else");
  CHECK(title("channels").empty());  // "nan" is no word of it
}

TEST_CASE("the rows of a page of mistakes are found by words of their first cell", "[cli][explain]") {
  const auto rows = parse_told_mistakes(
      "# Lesson\n\n| what you read | what it comes from |\n|---|---|\n"
      "| *the sum so far was not rescaled* | `l + 1`, always. |\n| *race: ...* | No barrier. |\nText | no "
      "row |\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].read == "*the sum so far was not rescaled*");
  CHECK(rows[0].source == "`l + 1`, always.");
  CHECK(matching_told_mistakes(rows, "The SUM so far, was not").size() == 1);
  CHECK(matching_told_mistakes(rows, "sum so fa").empty());  // whole words only
  CHECK(matching_told_mistakes(rows, "race").size() == 1);
}

TEST_CASE("too few words name no mistake, more name those of each lesson", "[cli][explain]") {
  const Project project;
  std::filesystem::create_directories(project.lesson.folder());
  Project::write(project.lesson.folder() / "mistakes.md", "| *all of it is lost* | Nothing is stored. |\n");
  CHECK(page_of_told_mistakes({project.lesson}, "all of").empty());
  CHECK(page_of_told_mistakes({project.lesson}, "all is lost").empty());
  CHECK(page_of_told_mistakes({project.lesson}, "all of it") ==
        "# What a report says, and what it comes from\n\n## Lesson 01: *all of it is lost*\n\nNothing is "
        "stored.\n\n");
}

TEST_CASE("of every page, nothing but code is wider than a terminal of 80 columns", "[cli][explain]") {
  for (const DiagnosticPage& page : diagnostic_pages(kProject)) {
    INFO(page.name);
    const std::string markdown = course::grading::read_file(page.file);
    const std::string text = markdown_to_text(markdown, MarkdownLayout{});
    CHECK(text.starts_with(page.name + ": "));
    for (const char* part : {"\nExample\n", "\nFix\n", "\nOn a GPU\n"})
      CHECK(text.find(part) != std::string::npos);
    for (const char* mark : {"<!--", "```", "](", "\n#"}) CHECK(text.find(mark) == std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      CHECK((columns_of(line) <= 80 || markdown.find("\n" + line + "\n") != std::string::npos));  // code
  }
}
