#include "grading/build/compile_errors.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "grading/base/demangle.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Takes the last number off "text<separator>123"; 0 if there is none.
int take_number(std::string_view& text, char separator) {
  const auto at = text.rfind(separator);
  if (at == std::string_view::npos) return 0;
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc() || rest != end) return 0;
  text = text.substr(0, at);
  return number;
}

/// Reads "file:12:7", "file:12" or nvcc's "file(12)".
std::optional<Place> parse_place(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.ends_with(')')) {
    text.remove_suffix(1);
    const int line = take_number(text, '(');
    if (line == 0) return std::nullopt;
    return Place{std::string(text), line};
  }
  const int last = take_number(text, ':');
  if (last == 0) return std::nullopt;
  const int before = take_number(text, ':');
  return before != 0 ? Place{std::string(text), before, last} : Place{std::string(text), last};
}

struct Message {
  Place place;
  std::string text;
};

/// Splits "place: error: text". `severity` includes the punctuation around the word.
std::optional<Message> parse_message(std::string_view line, std::string_view severity) {
  const auto at = line.find(severity);
  if (at == std::string_view::npos) return std::nullopt;
  const auto place = parse_place(line.substr(0, at));
  if (!place) return std::nullopt;
  return Message{*place, std::string(line.substr(at + severity.size()))};
}

void remove_all(std::string& text, std::string_view words) {
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words))
    text.erase(at, words.size());
}

/// Without options of a compiler that its reader did not call, and g++'s way to write c[i] by its address.
std::string without_noise(std::string text) {
  remove_all(text, " [-fpermissive]");
  if (text.find("of read-only location '*(") != std::string::npos) text.resize(text.find(" '*("));
  const auto flag = text.find(" The experimental flag '--expt-relaxed-constexpr'");
  return text.substr(0, flag);
}

std::optional<CompileError> parse_error(std::string_view line, const fs::path& source, int last_line) {
  constexpr std::string_view kAtEnd = "At end of source: error: ";
  if (line.starts_with(kAtEnd))
    return CompileError{source.string(), last_line, 0, std::string(line.substr(kAtEnd.size()))};
  for (const std::string_view severity : {": error: ", ": fatal error: ", ": catastrophic error: "}) {
    if (auto message = parse_message(line, severity))
      return CompileError{message->place.file, message->place.line, message->place.column,
                          without_noise(std::move(message->text))};
  }
  return std::nullopt;
}

/// The place that used a template, from g++'s "file:12:3:   required from here" and clang's and nvcc's like.
std::optional<Place> parse_use(std::string_view line) {
  for (const std::string_view words : {"  required from", "  recursively required from"}) {
    if (const auto at = line.find(words); at != std::string_view::npos && at > 0) {
      return parse_place(line.substr(0, line.rfind(':', at)));
    }
  }
  if (auto note = parse_message(line, ": note: "); note && note->text.starts_with("in instantiation of")) {
    return note->place;
  }
  constexpr std::string_view kAtLine = " at line ";  // nvcc: "instantiation of ... at line 12 of f"
  const auto at = line.find(kAtLine);
  const bool use = line.find("instantiation of") < at || line.find("implicit generation of") < at;
  if (at == std::string_view::npos || !use) return std::nullopt;
  Place place;
  const char* const digits = line.data() + at + kAtLine.size();
  if (std::from_chars(digits, line.data() + line.size(), place.line).ec != std::errc()) return std::nullopt;
  if (const auto of = line.find(" of ", at); of != std::string_view::npos) place.file = line.substr(of + 4);
  return place;
}

/// The symbol after "undefined reference to" (GNU ld, gold), "undefined symbol:" (lld) or "Unresolved extern
/// function" (ptxas), without quotes.
std::optional<std::string> parse_undefined(std::string_view line) {
  for (const std::string_view words :
       {"undefined reference to ", "undefined symbol: ", "Unresolved extern function "}) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) continue;
    std::string symbol(line.substr(at + words.size()));
    std::erase_if(symbol, [](char c) { return c == '`' || c == '\''; });
    return symbol.starts_with("_Z") ? demangle(symbol.c_str()) : symbol;  // "g" is no type's name
  }
  return std::nullopt;
}

std::string display(const std::string& file, const fs::path& root) {
  const fs::path path(file);
  if (!path.is_absolute()) return path.lexically_normal().string();
  const fs::path relative = path.lexically_normal().lexically_relative(root);
  return relative.empty() || relative.string().starts_with("..") ? file : relative.string();
}

/// True if only blanks stand there, and attributes such as nvcc makes of __global__.
bool is_blank_but_for_attributes(std::string text) {
  for (const std::string_view attribute : {"global", "device", "host", "shared"})
    remove_all(text, "__attribute__((" + std::string(attribute) + "))");
  return text.find_first_not_of(" \t") == std::string::npos;
}

/// nvcc repeats a line, and below it stands a '^'.
void note_pointer(CompileError& error, const std::string& line) {
  const auto caret = line.find_first_not_of(" \t");
  if (caret == std::string::npos || line.substr(caret) != "^" || error.details.empty()) return;
  const std::string& above = error.details.back();
  if (!error.pointed_at.empty() || caret >= above.size()) return;
  error.pointed_at = above.substr(caret);
  error.points_at_first_word = is_blank_but_for_attributes(above.substr(0, caret));
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Errors of one line that have this in common are one: a template's instances differ in their numbers.
std::string without_digits(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c) != 0; });
  return text;
}

bool is_same_file(const std::string& file, const fs::path& source, const fs::path& root) {
  return display(file, root) == display(source.string(), root);
}

std::vector<CompileError> parse_compile_errors(std::string_view output, const fs::path& source,
                                               const fs::path& root, int last_line) {
  constexpr std::size_t kMostDetails = 40;  // the notes about overloaded functions can be endless
  std::vector<CompileError> errors;
  std::set<std::tuple<std::string, int, std::string>> known;
  std::optional<Place> use;  // where the author's file uses the template that the next error is in
  bool repeated = false;     // the error has been there before, and its details with it
  const auto ours = [&](const std::string& file) { return is_same_file(file, source, root); };
  for (const std::string& line : split_lines(output)) {
    if (auto place = parse_use(line)) {
      if (place->file.empty() && !errors.empty()) place->file = source.string();
      // g++ names the use before the error; clang and nvcc after it.
      const bool after = line.find("required from") == std::string::npos;
      if (ours(place->file) && after && !errors.empty() && !ours(errors.back().file)) {
        errors.back().file = display(place->file, root);
        errors.back().line = place->line;
        errors.back().column = 0;
      }
      if (ours(place->file) && !after) use = place;
    } else if (auto error = parse_error(line, source, last_line)) {
      if (use && !ours(error->file)) {
        error->file = use->file;
        error->line = use->line;
        error->column = 0;
      }
      use.reset();
      error->file = display(error->file, root);
      repeated = !known.emplace(error->file, error->line, without_digits(error->text)).second;
      if (repeated) continue;
      if (errors.size() == kMostErrors) break;
      errors.push_back(std::move(*error));
    } else if (!errors.empty() && !repeated && errors.back().details.size() < kMostDetails) {
      note_pointer(errors.back(), line);
      errors.back().details.push_back(line);
    }
  }
  std::stable_sort(errors.begin(), errors.end(), [&](const CompileError& a, const CompileError& b) {
    return ours(a.file) && !ours(b.file);
  });
  return errors;
}

std::optional<CompileError> parse_refusal(std::string_view line, const fs::path& source) {
  const std::string start = source.string() + ":";
  const auto end = line.find(": ");
  if (!line.starts_with(start) || end == std::string_view::npos) return std::nullopt;
  const auto place = parse_place(line.substr(0, end));
  if (!place || place->file != source.string()) return std::nullopt;
  return CompileError{place->file, place->line, place->column, std::string(line.substr(end + 2))};
}

std::vector<std::string> parse_undefined_symbols(std::string_view output) {
  std::vector<std::string> symbols;
  for (const std::string& line : split_lines(output)) {
    const auto symbol = parse_undefined(line);
    if (symbol && std::find(symbols.begin(), symbols.end(), *symbol) == symbols.end())
      symbols.push_back(*symbol);
    if (symbols.size() == kMostErrors) break;
  }
  return symbols;
}

}  // namespace course::grading
