#include "classroom/file_names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

using grading::Lesson;

constexpr std::uint64_t kFinal = 1'000'000'000'000;  // larger than any number of kMaxDigits digits
constexpr std::size_t kMaxDigits = 9;
constexpr std::size_t kMaxDecorations = 8;

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<std::uint64_t> as_number(std::string_view text) {
  if (!all_digits(text) || text.size() > kMaxDigits) return std::nullopt;
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Cuts off what stands before the next underscore, and that; nothing if there is none.
std::optional<std::string_view> next_part(std::string_view& text) {
  const auto end = text.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + 1);
  return part;
}

/// In lower case, with one underscore for each run of spaces, dashes, dots and underscores.
std::string normalised(std::string_view stem) {
  std::string result;
  for (const char c : grading::ascii_lower(stem)) {
    const bool separates = c == ' ' || c == '-' || c == '.' || c == '_';
    if (!separates) {
      result += c;
    } else if (!result.ends_with('_')) {
      result += '_';
    }
  }
  return result;
}

/// What a word such as "2", "v2", "final", "copy" or "copy_2" says about a version.
std::optional<std::uint64_t> version_word(std::string_view word) {
  if (word == "final") return kFinal;
  if (word == "copy") return 1;
  for (const std::string_view prefix : {"copy_", "copy", "v"}) {
    if (word.starts_with(prefix)) return as_number(word.substr(prefix.size()));
  }
  return as_number(word);
}

/// Cuts one decoration off the end: "(1)", "_2", "_v2", "_final", "_(copy)". Says which version it means.
std::optional<std::uint64_t> cut_decoration(std::string& stem) {
  if (stem.ends_with('_')) {
    stem.pop_back();
    return 0;
  }
  const bool parenthesised = stem.ends_with(')');
  const auto start = stem.rfind(parenthesised ? '(' : '_');
  if (start == std::string::npos || start == 0) return std::nullopt;
  std::string_view word = std::string_view(stem).substr(start + 1);
  if (parenthesised) word.remove_suffix(1);
  const auto version = version_word(word);
  if (version) stem.resize(start);
  return version;
}

bool names_lesson(std::string_view stem, const Lesson& lesson) {
  const std::string name = normalised(lesson.name);
  if (stem == name) return true;
  const auto number = next_part(stem);
  return number && as_number(*number) == static_cast<std::uint64_t>(lesson.number) && stem == name;
}

/// The lessons that a name without ending and decorations means.
std::vector<const Lesson*> lessons_called(std::string_view stem, const std::vector<Lesson>& lessons) {
  std::vector<const Lesson*> found;
  for (const Lesson& lesson : lessons) {
    if (names_lesson(stem, lesson)) found.push_back(&lesson);
  }
  return found;
}

/// The one that a folder around the file names, else the first.
const Lesson& by_folder(const std::vector<const Lesson*>& found, const std::vector<std::string>& folders) {
  for (const Lesson* lesson : found) {
    for (const std::string& folder : folders) {
      if (normalised(folder) == normalised(lesson->id())) return *lesson;
    }
  }
  return *found.front();
}

std::optional<LessonName> lesson_of_stem(std::string stem, const std::vector<std::string>& folders,
                                         const std::vector<Lesson>& lessons) {
  constexpr std::string_view kCopyOf = "copy_of_";
  if (stem.starts_with(kCopyOf)) stem.erase(0, kCopyOf.size());
  std::uint64_t version = 0;
  for (std::size_t cut = 0; cut <= kMaxDecorations; ++cut) {
    if (const auto found = lessons_called(stem, lessons); !found.empty())
      return LessonName{by_folder(found, folders).number, version};
    const auto decoration = cut_decoration(stem);
    if (!decoration) return std::nullopt;
    version += *decoration;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PlatformName> parse_canvas_name(std::string_view name) {
  for (auto end = name.find('_'); end != std::string_view::npos; end = name.find('_', end + 1)) {
    PlatformName result;
    result.student = name.substr(0, end);
    std::string_view rest = name.substr(end + 1);
    auto user = next_part(rest);
    if (user && grading::ascii_lower(*user) == "late") {
      result.late = true;
      user = next_part(rest);
    }
    const auto upload = next_part(rest);
    const bool anonymous = result.student.starts_with("anon") && user && user->size() == 5 &&
                           std::all_of(user->begin(), user->end(), is_alphanumeric);
    if (end == 0 || !user || !upload || rest.empty()) continue;
    if ((!all_digits(*user) && !anonymous) || !all_digits(*upload)) continue;
    result.id = *user;
    result.file = rest;
    return result;
  }
  return std::nullopt;
}

namespace {

constexpr std::string_view kMoodleMark = "_assignsubmission_";

/// What stands before this mark of Moodle's. Nothing unless it ends in a number: then the mark is a part of
/// the student's name, which may be anything.
std::optional<PlatformName> moodle_name_before(std::string_view name, std::size_t mark) {
  const std::string_view before = name.substr(0, mark);
  const auto number = before.rfind('_');
  if (number == std::string_view::npos || number == 0 || !all_digits(before.substr(number + 1)))
    return std::nullopt;
  PlatformName result;
  result.student = before.substr(0, number);
  result.id = before.substr(number + 1);
  return result;
}

}  // namespace

std::optional<PlatformName> parse_moodle_name(std::string_view name) {
  for (auto mark = name.find(kMoodleMark); mark != std::string_view::npos;
       mark = name.find(kMoodleMark, mark + 1)) {
    std::optional<PlatformName> result = moodle_name_before(name, mark);
    if (!result) continue;
    std::string_view rest = name.substr(mark + kMoodleMark.size());
    if (next_part(rest)) result->file = rest;  // after "file" or "onlinetext"
    return result;
  }
  return std::nullopt;
}

std::optional<PlatformName> parse_moodle_folder(std::string_view name) {
  const auto mark = name.rfind(kMoodleMark);
  return mark == std::string_view::npos ? std::nullopt : moodle_name_before(name, mark);
}

std::optional<Platform> platform_of(const std::vector<std::string>& names) {
  bool only_moodle = false;
  for (const std::string& name : names) {
    const bool canvas = parse_canvas_name(name).has_value(), moodle = parse_moodle_name(name).has_value();
    if (canvas && !moodle) return Platform::canvas;
    only_moodle = only_moodle || (moodle && !canvas);
  }
  return only_moodle ? std::optional(Platform::moodle) : std::nullopt;
}

std::optional<PlatformName> parse_platform_name(std::string_view name, std::optional<Platform> platform) {
  auto canvas = parse_canvas_name(name), moodle = parse_moodle_name(name);
  if (!canvas) return moodle;
  if (!moodle) return canvas;
  const bool canvas_ends_first = canvas->file.size() >= moodle->file.size();
  return platform.value_or(canvas_ends_first ? Platform::canvas : Platform::moodle) == Platform::canvas
             ? canvas
             : moodle;
}

std::optional<LessonName> lesson_of(std::string_view file, const std::vector<std::string>& folders,
                                    const std::vector<Lesson>& lessons) {
  if (!ends_with(file, ".cu")) return std::nullopt;
  const std::string_view stem = file.substr(0, file.size() - 3);
  if (auto found = lesson_of_stem(normalised(stem), folders, lessons)) return found;
  const auto platform = parse_platform_name(stem);
  if (!platform) return std::nullopt;
  return lesson_of_stem(normalised(platform->file), folders, lessons);
}

bool ends_with(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() &&
         grading::ascii_lower(name.substr(name.size() - suffix.size())) == suffix;
}

bool had_suffix_cu(std::string_view name) {
  const std::string text = grading::ascii_lower(name);
  for (auto at = text.find(".cu"); at != std::string::npos; at = text.find(".cu", at + 1)) {
    if (at > 0 && at + 3 < text.size() && !is_alphanumeric(text[at + 3])) return true;
  }
  return false;
}

bool is_hidden(std::string_view name) {
  return name == "__MACOSX" ||
         (name.starts_with('.') && name.find_first_not_of('.') != std::string_view::npos);
}

bool is_of_tool(std::string_view name) {
  constexpr std::array<std::string_view, 22> kNames{"__MACOSX",
                                                    ".DS_Store",
                                                    ".git",
                                                    ".gitignore",
                                                    ".gitattributes",
                                                    ".gitmodules",
                                                    ".github",
                                                    ".svn",
                                                    ".hg",
                                                    ".vscode",
                                                    ".idea",
                                                    ".vs",
                                                    ".cache",
                                                    ".clangd",
                                                    ".cmake",
                                                    ".ipynb_checkpoints",
                                                    ".pytest_cache",
                                                    ".Trashes",
                                                    ".fseventsd",
                                                    ".course",
                                                    ".devcontainer",
                                                    ".grading"};
  const bool editors = name.ends_with(".swp") || name.ends_with('~');
  return name.starts_with("._") || editors || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string shown(std::string_view path) {
  constexpr std::size_t kMaxBytes = 200;
  std::string text = one_line(path);
  if (text.size() <= kMaxBytes) return text;
  std::size_t end = kMaxBytes;
  while ((text[end] & 0xc0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "...";
}

std::string shown_list(const std::vector<std::string>& paths) {
  constexpr std::size_t kListed = 10;
  std::string text;
  for (std::size_t i = 0; i < paths.size() && i < kListed; ++i)
    text += (i == 0 ? "" : ", ") + shown(paths[i]);
  if (paths.size() > kListed) {
    const std::size_t more = paths.size() - kListed;
    text += fmt::format(" and {} {}", more, more == 1 ? "other" : "others");
  }
  return text;
}

}  // namespace course::classroom
