#include "grading/project/lesson.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "grading/base/near_names.hpp"
#include "grading/base/subprocess.hpp"
#include "grading/project/stub.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder, const char* extension) {
  std::vector<fs::path> files;
  std::error_code missing;  // a lesson may have none, and then has no such folder
  for (const auto& entry : fs::directory_iterator(folder, missing)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Lesson read_lesson(const fs::path& file, const fs::path& root) {
  try {
    const auto fields = nlohmann::json::parse(read_file(file));
    Lesson lesson;
    lesson.root = root;
    fields.at("number").get_to(lesson.number);
    fields.at("name").get_to(lesson.name);
    fields.at("title").get_to(lesson.title);
    fields.at("part").get_to(lesson.part);
    fields.at("minutes").get_to(lesson.minutes);
    fields.at("points").get_to(lesson.points);
    lesson.gradients = fields.value("gradients", false);
    fields.at("needs").get_to(lesson.needs);
    fields.at("prerequisites").get_to(lesson.prerequisites);
    fields.at("entries").get_to(lesson.entries);
    if (file.parent_path().filename() != lesson.id()) {
      throw std::runtime_error("number and name belong to a folder called " + lesson.id());
    }
    return lesson;
  } catch (const std::exception& error) {
    throw std::runtime_error(fs::relative(file, root).string() + ": " + error.what());
  }
}

std::optional<int> as_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.size() > 4 || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

/// First and last number of "3-7"; of "3" both are 3.
std::optional<std::pair<int, int>> as_range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = as_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : as_number(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return std::pair(*first, *last);
}

[[noreturn]] void throw_unknown(const std::vector<Lesson>& lessons, const std::string& selector) {
  std::string message = "There is no lesson \"" + selector + "\".";
  if (selector.ends_with(".cu"))
    throw UnknownLesson(message + " Give a kernel's file after --file: --file " + selector);
  std::vector<Candidate> candidates;
  for (const Lesson& lesson : lessons) candidates.push_back({lesson.name, lesson.id()});
  const std::string guesses =
      as_range(selector) ? "" : near_names(selector, candidates);  // a number has none
  if (!guesses.empty()) message += " Did you mean " + guesses + "?";
  if (lessons.size() == 1) {
    message += " So far there is only " + lessons.front().id() + ".";
  } else if (!lessons.empty()) {
    message += " Lessons go from " + lessons.front().id() + " to " + lessons.back().id() +
               "; `./course list` shows all.";
  }
  throw UnknownLesson(message);
}

}  // namespace

std::string numbers_of(const std::vector<Lesson>& lessons) {
  std::string numbers;
  for (const Lesson& lesson : lessons) numbers += (numbers.empty() ? "" : ", ") + lesson.two_digits();
  return numbers;
}

std::string Lesson::two_digits() const { return (number < 10 ? "0" : "") + std::to_string(number); }
std::string Lesson::id() const { return two_digits() + "_" + name; }
std::string Lesson::pristine_stub() const {
  const std::string code = read_file(solution());
  try {
    return stub_of(code);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}, {}", solution().string(), error.what()));
  }
}
std::vector<fs::path> Lesson::mutants() const {
  return files_in(root / "tests/lessons/mutants" / id(), ".mutant");
}
std::vector<fs::path> Lesson::alternatives() const {
  return files_in(root / "tests/lessons/alternatives" / id(), ".cu");
}

std::vector<Lesson> read_lessons(const fs::path& root) {
  std::vector<Lesson> lessons;
  for (const auto& entry : fs::directory_iterator(root / "lessons")) {
    const fs::path file = entry.path() / "lesson.json";
    if (fs::exists(file)) lessons.push_back(read_lesson(file, root));
  }
  std::sort(lessons.begin(), lessons.end(),
            [](const Lesson& a, const Lesson& b) { return a.number < b.number; });
  return lessons;
}

std::vector<Lesson> select_lessons(const std::vector<Lesson>& lessons,
                                   const std::vector<std::string>& selectors) {
  std::set<int> picked;
  for (const std::string& selector : selectors) {
    std::string word = selector;
    while (word.ends_with('/')) word.pop_back();
    if (word.starts_with("lessons/")) word.erase(0, std::string_view("lessons/").size());
    const auto range = as_range(word);
    bool found = false;
    for (const Lesson& lesson : lessons) {
      const bool in_range = range && range->first <= lesson.number && lesson.number <= range->second;
      if (word == "all" || in_range || word == lesson.name || word == lesson.id()) {
        picked.insert(lesson.number);
        found = true;
      }
    }
    if (!found) throw_unknown(lessons, selector);
  }
  std::vector<Lesson> result;
  std::copy_if(lessons.begin(), lessons.end(), std::back_inserter(result),
               [&](const Lesson& lesson) { return picked.contains(lesson.number); });
  return result;
}

}  // namespace course::grading
