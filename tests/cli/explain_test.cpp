#include <filesystem>
#include <set>

#include "cli/diagnostic_pages.hpp"
#include "cli/known_mistakes.hpp"
#include "cli/markdown.hpp"
#include "grading/base/near_names.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

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

TEST_CASE("a mistake's sentence is what stands last in its call", "[cli][explain]") {
  const std::string source = R"cpp(
    gives(
        "a_only", [&] { return name("x. y."); },
        "This is a alone: "
        "b is missing."),
        to.add("a_only", {.end = end}, fmt::format("The last {} are \"missing\".", 3)),
        CHECK(diagnoses() == std::vector<std::string>{"a_only"});
    other("a_only_too", "Not this one.");
  )cpp";
  CHECK(sentences_in_source(source, "a_only") ==
        std::vector<std::string>{"This is a alone: b is missing.", "The last ... are \"missing\"."});
  CHECK(sentences_in_source(source, "b_only").empty());
}

TEST_CASE("every mistake that a known-wrong kernel has can be explained", "[cli][explain]") {
  const auto lessons = course::grading::read_lessons(kProject);
  const auto pages = diagnostic_pages(kProject);
  std::size_t mistakes = 0, with_sentence = 0;
  for (const std::string& name : diagnoses_of_mutants(lessons)) {
    if (matching_pages(pages, name).size() == 1 && matching_pages(pages, name).front().name == name) continue;
    ++mistakes;
    INFO(name);
    const KnownMistake mistake = find_mistake(lessons, name);
    CHECK(mistake.known());
    CHECK((!mistake.sentences.empty() || !mistake.kernels.empty()));
    with_sentence += mistake.sentences.empty() ? 0 : 1;
  }
  CHECK(mistakes > 200);
  CHECK(with_sentence * 10 >= mistakes * 9);  // the others' names are put together while the tests run
  CHECK_FALSE(find_mistake(lessons, "no_such_mistake").known());
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
