#include "grading/build/compiler_text.hpp"

#include <time.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace course::grading {
namespace {

/// Where "[common/a.hpp:3:7] " ends, or "[common/a.hpp:3:7 discrim 2] "; 0 if none begins there.
std::size_t end_of_place(std::string_view text) {
  const std::size_t end = text.find_first_of("[]", 1);
  if (end == std::string_view::npos || text[end] != ']' || !text.substr(end).starts_with("] ")) return 0;
  std::string_view place = text.substr(0, end);
  const auto drop_number = [&] {
    const std::size_t before = place.size();
    while (!place.empty() && std::isdigit(static_cast<unsigned char>(place.back())) != 0)
      place.remove_suffix(1);
    return place.size() < before;
  };
  if (!drop_number()) return 0;
  constexpr std::string_view kDiscriminator = " discrim ";
  if (place.ends_with(kDiscriminator)) {
    place.remove_suffix(kDiscriminator.size());
    if (!drop_number()) return 0;
  }
  if (!place.ends_with(':')) return 0;
  place.remove_suffix(1);
  return drop_number() && place.ends_with(':') ? end + 2 : 0;
}

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

thread_local std::optional<std::chrono::nanoseconds> reading_ends;

}  // namespace

TooMuchToRead::TooMuchToRead()
    : std::runtime_error(
          "What the compiler makes of it takes too long to examine. Look for templates or macros that expand "
          "too far, and for very many jumps.") {}

ReadingLimit::ReadingLimit(std::chrono::seconds most) { reading_ends = processor_time() + most; }
ReadingLimit::~ReadingLimit() { reading_ends.reset(); }

void for_each_line(std::string_view text, const std::function<bool(std::string_view)>& visit) {
  constexpr std::size_t kBetweenLooks = 16384;  // bytes: the clock takes as long as a few lines
  std::size_t looked_at = text.size();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (reading_ends) {
      constexpr std::size_t kLongestLine = std::size_t{1} << 20;
      if (std::min(end, text.size()) > kLongestLine) throw TooMuchToRead();
      if (looked_at - text.size() > kBetweenLooks) {
        looked_at = text.size();
        if (processor_time() > *reading_ends) throw TooMuchToRead();
      }
    }
    if (!visit(text.substr(0, end))) return;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void for_each_part(std::string_view text, const std::function<void(std::string_view)>& visit) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    if (i > begin) visit(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
}

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

constexpr std::string_view kFunction = ";; Function ";

bool is_part_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool begins_with_any(std::string_view word, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return word.starts_with(beginning); });
}

bool begins_function(std::string_view line) { return line.starts_with(kFunction); }

std::string_view mangled_name(std::string_view line) {
  constexpr std::string_view kKey = ", funcdef_no=";
  const std::size_t end = line.rfind(kKey);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = line.rfind('(', end);
  if (begin == std::string_view::npos) return {};
  const std::string_view name = line.substr(begin + 1, end - begin - 1);
  return name.starts_with('*') ? name.substr(1) : name;  // what its author calls it for the assembler
}

namespace {

/// Where the constant of a character that begins there ends: at its closing quote, or past the text.
std::size_t end_of_character(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != '\'') end += text[end] == '\\' ? 2 : 1;
  return end;
}

}  // namespace

std::string without_literals(std::string_view text) {
  std::string rest;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted)
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (text[i] == '\'' && !quoted)
      i = end_of_character(text, i);
    else if (!quoted)
      rest += text[i];
  }
  return rest;
}

std::string without_places(std::string_view line) {
  line = trimmed(line);
  std::string text;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t place = line[i] == '[' ? end_of_place(line.substr(i)) : 0;
    i += place;
    if (place == 0) text += line[i++];
  }
  return text;
}

}  // namespace course::grading
