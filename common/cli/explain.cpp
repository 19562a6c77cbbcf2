#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/diagnostic_pages.hpp"
#include "cli/known_mistakes.hpp"
#include "cli/markdown.hpp"
#include "cli/report_sections.hpp"
#include "cli/told_mistakes.hpp"
#include "cli/workspace.hpp"
#include "grading/base/near_names.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/facts/finding.hpp"
#include "simt/classes.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;
using namespace course::grading;

constexpr std::size_t kNameColumns = 26, kShownVariants = 3;
std::string list_of_pages(const Terminal& terminal, const std::vector<DiagnosticPage>& pages) {
  std::string text, group;
  for (const DiagnosticPage& page : pages) {
    if (page.group != group)
      text += (group.empty() ? "" : "\n") + terminal.paint(Style::strong, page.group) + "\n";
    group = page.group;
    std::string meaning = wrap(page.meaning, kNameColumns, terminal.width());
    text += meaning.replace(0, kNameColumns, fmt::format("  {:<{}}", page.name, kNameColumns - 2));
  }
  return text + "\n" +
         wrap(
             "`./course explain NAME` shows an example and its fix, also of a mistake that feedback names. "
             "`./course explain never written`, or any other words that a report begins with, says what they "
             "mean.",
             0, terminal.width());
}

/// The registry of classes: {"classes":[{"class","group","severity","meaning","check_mode","counters",
/// "explains_wrong_results","page"}]}, in its order.
std::string classes_json() {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (const simt::check::FindingClass& one : simt::check::kClasses)
    classes.push_back({{"class", one.name},
                       {"group", simt::check::to_string(one.group)},
                       {"severity", simt::to_string(one.severity)},
                       {"meaning", one.meaning},
                       {"check_mode", one.finder == simt::check::Finder::check_mode},
                       {"counters", one.finder == simt::check::Finder::counters},
                       {"explains_wrong_results", one.explains_wrong_results},
                       {"page", one.page()}});
  return nlohmann::ordered_json{{"classes", std::move(classes)}}.dump(1);
}

std::string bullets(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), kShownVariants); ++i) text += "- " + items[i] + "\n";
  return text;
}

/// A page in Markdown, made of what the project's files say.
std::string page_of(const KnownMistake& mistake, const std::vector<Lesson>& lessons) {
  std::string page = "# " + mistake.name + ": a mistake that tests know by its wrong result\n\n";
  if (!mistake.sentences.empty()) page += "## What a report says\n\n" + bullets(mistake.sentences) + "\n";
  if (!mistake.kernels.empty()) page += "## Kernels that have it\n\n" + bullets(mistake.kernels) + "\n";
  page += "## In the lessons\n\n";
  for (const Lesson& lesson : lessons)
    if (mistake.lessons.contains(lesson.number))
      page += fmt::format("- Lesson {}, \"What goes wrong\": `lessons/{}/mistakes.md`\n", lesson.two_digits(),
                          lesson.id());
  for (const Lesson& lesson : lessons)
    if (mistake.not_built.contains(lesson.number))
      page += fmt::format(
          "\nThe tests of lesson {} have not been built yet. `./course check {}` builds them; "
          "then this page has what they say of it.\n",
          lesson.two_digits(), lesson.two_digits());
  return page;
}

[[noreturn]] void throw_ambiguous(const std::string& name, const std::vector<DiagnosticPage>& pages) {
  std::string names;
  for (const DiagnosticPage& page : pages) names += (names.empty() ? "" : ", ") + page.name;
  throw UsageError(fmt::format("\"{}\" may be any of {}. Write more of it.", name, names));
}

[[noreturn]] void throw_unknown(const std::string& words, const std::string& name,
                                const std::vector<DiagnosticPage>& pages, const Workspace& workspace) {
  std::vector<Candidate> candidates;
  for (const DiagnosticPage& page : pages) candidates.push_back({page.name, page.name});
  for (const std::string& known : names_of_mistakes(workspace.toolchain(), workspace.lessons()))
    if (matching_pages(pages, known).empty()) candidates.push_back({known, known});
  const std::string near = near_names(name, candidates);
  throw UsageError(fmt::format("Nothing is known of \"{}\".{} `./course explain` lists all pages.", words,
                               near.empty() ? "" : " Did you mean " + near + "?"));
}

/// The page of the lesson that the words begin with, as "05", "05 mistakes" and "05 gpu", or nothing.
std::optional<std::string> find_notes(const Workspace& workspace, const std::string& words) {
  if (std::isdigit(static_cast<unsigned char>(words[0])) == 0) return std::nullopt;
  const std::size_t space = std::min(words.find(' '), words.size());
  const std::string page = words.substr(std::min(space + 1, words.size()));
  if (!page.empty() && page != "mistakes" && page != "gpu")
    throw UsageError(
        fmt::format("A lesson has no page \"{0}\". `./course explain {1}` shows its notes, `./course explain "
                    "{1} mistakes` "
                    "what goes wrong, and `./course explain {1} gpu` how fast it is on one.",
                    page, words.substr(0, space)));
  const fs::path folder = workspace.select_one("explain", words.substr(0, space)).folder();
  return read_file(folder / (page.empty() ? "README.md" : page + ".md"));
}

/// The Markdown that explains what the words name.
std::string find_text(const Workspace& workspace, const std::vector<DiagnosticPage>& pages,
                      const std::string& words) {
  if (const auto notes = find_notes(workspace, words)) return *notes;
  const std::string name = diagnostic_name(words);
  const std::vector<DiagnosticPage> found = matching_pages(pages, name);
  if (found.size() == 1) {
    const fs::path file = fs::relative(found.front().file, workspace.toolchain().source_dir);
    return read_file(found.front().file) + "\n## Source\n\nThis page is " + file.string() + ".\n";
  }
  const KnownMistake mistake = find_mistake(workspace.toolchain(), workspace.lessons(), name);
  if (mistake.known()) return page_of(mistake, workspace.lessons());
  if (const std::string told = page_of_told_mistakes(workspace.lessons(), words); !told.empty()) return told;
  const fs::path project = workspace.toolchain().source_dir;
  if (const auto section = find_report_section(read_report_sections(project), words))
    return section->text + "\n## Source\n\nThis is a section of docs/reports.md.\n";
  if (!found.empty()) throw_ambiguous(words, found);
  throw_unknown(words, name, pages, workspace);
}

}  // namespace

int run_explain(const Terminal& terminal, const ExplainArguments& arguments) {
  if (arguments.json) {
    if (!arguments.words.empty()) throw UsageError("--json takes no name: it lists all of them.");
    fmt::print("{}\n", classes_json());
    return kAllPassed;
  }
  const Workspace workspace(terminal);
  const std::vector<DiagnosticPage> pages = diagnostic_pages(workspace.toolchain().source_dir);
  if (arguments.list || arguments.words.empty()) {
    if (!arguments.words.empty()) throw UsageError("--list takes no name: it lists all of them.");
    fmt::print("{}", list_of_pages(terminal, pages));
    return kAllPassed;
  }
  std::string words;
  for (const std::string& word : arguments.words) words += (words.empty() ? "" : " ") + word;
  fmt::print("{}", markdown_to_text(find_text(workspace, pages, words), terminal));
  return kAllPassed;
}

}  // namespace course::cli
