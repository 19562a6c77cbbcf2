#include "classroom/meant_lesson.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "classroom/file_names.hpp"
#include "classroom/text.hpp"
#include "grading/base/edit_distance.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

using grading::Lesson;

constexpr std::size_t kLongestName = 80;  // of those that are compared letter by letter

/// What the endings of files say that students hand in by mistake.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kFormats{{
    {".pdf", "a PDF"},
    {".doc", "a document of a word processor"},
    {".docx", "a document of a word processor"},
    {".odt", "a document of a word processor"},
    {".pages", "a document of a word processor"},
    {".rtf", "a document of a word processor"},
    {".ipynb", "a notebook"},
    {".html", "a web page"},
    {".htm", "a web page"},
    {".webloc", "a link to a web page"},
    {".url", "a link to a web page"},
    {".png", "a picture"},
    {".jpg", "a picture"},
    {".jpeg", "a picture"},
    {".heic", "a picture"},
    {".tar", "an archive that is not unpacked"},
    {".tgz", "an archive that is not unpacked"},
    {".gz", "an archive that is not unpacked"},
    {".bz2", "an archive that is not unpacked"},
    {".xz", "an archive that is not unpacked"},
    {".7z", "an archive that is not unpacked"},
    {".rar", "an archive that is not unpacked"},
    {".o", "a compiled program"},
    {".so", "a compiled program"},
    {".out", "a compiled program"},
    {".exe", "a compiled program"},
    {".ptx", "a compiled kernel"},
    {".cubin", "a compiled kernel"},
    {".cpp", "a file of C++"},
    {".cc", "a file of C++"},
    {".cxx", "a file of C++"},
    {".c", "a file of C"},
}};

struct Beginning {
  std::string_view bytes, words;
};
constexpr std::array kBeginnings{
    Beginning{"%PDF", "a PDF"},
    Beginning{"PK\x03\x04", "a zip or a document of a word processor"},
    Beginning{"{\\rtf", "a document of a word processor"},
    Beginning{"\x7f"
              "ELF",
              "a compiled program"},
    Beginning{"\x1f\x8b", "an archive"},
    Beginning{"7z\xbc\xaf", "an archive"},
    Beginning{"Rar!", "an archive"},
    Beginning{"\x89PNG", "a picture"},
    Beginning{"\xff\xd8\xff", "a picture"},
};

/// A name without case and separators, and of that the letters alone.
struct PlainName {
  explicit PlainName(std::string_view name) {
    for (const char c : grading::ascii_lower(name)) {
      if (is_alphanumeric(c)) all += c;
      if (is_alphanumeric(c) && !is_digit(c)) letters += c;
    }
  }
  std::string all, letters;
};

/// The only number in the text; 0 if there is none, or more than one.
int only_number(std::string_view text) {
  int number = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    if (number != 0) return 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error != std::errc()) return 0;
    i = static_cast<std::size_t>(end - text.data());
  }
  return number;
}

/// Words beside a number that say no more than that it is one of a lesson.
bool says_only_lesson(const std::string& letters) {
  constexpr std::array<std::string_view, 11> kWords{
      "", "l", "lesson", "ex", "exercise", "hw", "task", "homework", "kernel", "assignment", "solution"};
  return std::find(kWords.begin(), kWords.end(), letters) != kWords.end();
}

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

/// How far a file's name is from a lesson's: with others around it, with other digits, with a few letters
/// wrong.
std::size_t distance(const PlainName& file, const PlainName& lesson) {
  if (file.all == lesson.all) return 0;
  if (file.all.find(lesson.all) != std::string::npos) return 1;
  if (file.letters.find(lesson.letters) != std::string::npos) return 2;
  const std::size_t changes = grading::edit_distance(file.letters, lesson.letters);
  return changes <= std::max<std::size_t>(1, lesson.letters.size() / 4) ? 2 + changes : kFar;
}

}  // namespace

std::string meant_lesson(std::string_view file, const std::vector<Lesson>& lessons) {
  const std::string_view stem = file.substr(0, file.find('.', 1));
  const PlainName name(stem.substr(0, kLongestName));
  const int number = only_number(stem);
  std::size_t nearest = kFar, longest = 0;
  std::vector<const Lesson*> found;
  for (const Lesson& lesson : lessons) {
    const PlainName wanted(lesson.name);
    const std::size_t here = distance(name, wanted), size = wanted.all.size();
    if (here == kFar || here > nearest || (here == nearest && size < longest)) continue;
    if (here < nearest || size > longest) found.clear();  // of names within each other, the longest
    nearest = here, longest = size;
    found.push_back(&lesson);
  }
  if (found.empty() && says_only_lesson(name.letters))
    for (const Lesson& lesson : lessons)
      if (number == lesson.number) found.push_back(&lesson);
  if (found.size() > 1) std::erase_if(found, [&](const Lesson* lesson) { return lesson->number != number; });
  return found.size() == 1 ? found.front()->id() : "";
}

std::string format_by_name(std::string_view name) {
  for (const auto& [ending, words] : kFormats)
    if (ends_with(name, ending)) return std::string(words);
  return {};
}

std::string format_by_content(std::string_view content) {
  for (const Beginning& beginning : kBeginnings)
    if (content.starts_with(beginning.bytes)) return std::string(beginning.words);
  const bool marked = content.starts_with("\xff\xfe") || content.starts_with("\xfe\xff");
  if (marked && content.find('\0') != std::string_view::npos) return "a text in UTF-16";
  const std::string text =
      grading::ascii_lower(content.substr(0, std::min<std::size_t>(content.size(), 200)));
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::string_view first = std::string_view(text).substr(begin);
  return first.starts_with("<!doctype html") || first.starts_with("<html") ? "a web page" : "";
}

bool is_foreign_archive(std::string_view name) {
  return format_by_name(name) == "an archive that is not unpacked";
}

std::string uncounted_list(const std::vector<UncountedFile>& files) {
  constexpr std::size_t kListed = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), kListed); ++i) {
    text += (i == 0 ? "" : "; ") + shown(files[i].file);
    if (!files[i].meant.empty()) text += fmt::format(", probably {}.cu", files[i].meant);
  }
  if (files.size() > kListed) text += fmt::format("; and {} more", files.size() - kListed);
  return text;
}

}  // namespace course::classroom
