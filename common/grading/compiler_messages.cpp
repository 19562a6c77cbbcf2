#include "grading/compiler_messages.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <vector>

#include "grading/subprocess.hpp"

namespace course::grading {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownErrors = 5;
constexpr std::size_t kLongestText = 400;  // characters of one error; template types can be endless

struct Place {
  std::string file;
  int line = 0;
  bool operator==(const Place&) const = default;
};

struct Message {
  Place place;
  std::string text;
  bool operator==(const Message&) const = default;
};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

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
  return Place{std::string(text), before != 0 ? before : last};
}

/// Splits "place: error: text". `severity` includes the punctuation around the word.
std::optional<Message> parse_message(std::string_view line, std::string_view severity) {
  const auto at = line.find(severity);
  if (at == std::string_view::npos) return std::nullopt;
  const auto place = parse_place(line.substr(0, at));
  if (!place) return std::nullopt;
  return Message{*place, std::string(line.substr(at + severity.size()))};
}

std::optional<Message> parse_error(std::string_view line) {
  for (const std::string_view severity : {": error: ", ": fatal error: ", ": catastrophic error: "}) {
    if (auto message = parse_message(line, severity)) return message;
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
  if (const auto at = line.find("at line ");
      at != std::string_view::npos) {  // nvcc: "instantiation of ... at line 12 of f"
    Place place;
    const char* const digits = line.data() + at + std::string_view("at line ").size();
    if (std::from_chars(digits, line.data() + line.size(), place.line).ec == std::errc()) {
      if (const auto of = line.find(" of ", at); of != std::string_view::npos)
        place.file = line.substr(of + 4);
      return place;
    }
  }
  return std::nullopt;
}

/// The symbol after "undefined reference to" (GNU ld, gold) or "undefined symbol:" (lld), without quotes.
std::optional<std::string> parse_undefined(std::string_view line) {
  for (const std::string_view words : {"undefined reference to ", "undefined symbol: "}) {
    const auto at = line.find(words);
    if (at == std::string_view::npos) continue;
    std::string symbol(line.substr(at + words.size()));
    std::erase_if(symbol, [](char c) { return c == '`' || c == '\''; });
    return symbol;
  }
  return std::nullopt;
}

std::string without_comments(const std::string& code) {
  std::string result;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.compare(i, 2, "//") == 0) {
      i = code.find('\n', i);
      if (i == std::string::npos) break;
    } else if (code.compare(i, 2, "/*") == 0) {
      i = code.find("*/", i);
      if (i == std::string::npos) break;
      ++i;
      continue;
    }
    result += code[i];
  }
  return result;
}

/// "(const float* a, int64_t n)" as the text declares it for the function `name`; empty if it does not.
std::string parameters_of(const std::string& code, const std::string& name) {
  for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    const auto open = code.find_first_not_of(" \n", at + name.size());
    if ((at > 0 && is_word(code[at - 1])) || open == std::string::npos || code[open] != '(') continue;
    const auto close = code.find(')', open);
    if (close == std::string::npos) return "";
    std::string parameters;
    for (const char c : code.substr(open, close + 1 - open)) {
      const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
      if (!space || !parameters.ends_with(' ')) parameters += space ? ' ' : c;
    }
    return parameters;
  }
  return "";
}

std::string read_or_empty(const fs::path& file) {
  try {
    return read_file(file);
  } catch (const std::exception&) {
    return "";
  }
}

std::string explain_undefined(const std::string& symbol, const Lesson& lesson, const fs::path& source) {
  const std::string file = source.filename().string();
  for (const std::string& entry : lesson.entries) {
    if (!symbol.starts_with("course::" + entry + "(") && symbol != "course::" + entry) continue;
    const std::string code =
        without_comments(read_or_empty(source.is_absolute() ? source : lesson.root / source));
    const std::string declared = parameters_of(without_comments(read_or_empty(lesson.contract())), entry);
    const std::string here = parameters_of(code, entry);
    std::string text = file + " does not define course::" + entry + declared + " as " +
                       fs::relative(lesson.contract(), lesson.root).string() + " declares it.";
    if (!here.empty()) {
      text += here == declared ? " It has a function like that, but not in namespace course."
                               : " It has " + entry + here + " instead.";
    }
    return text;
  }
  return file + " uses " + symbol + ", which is declared but defined nowhere.";
}

std::string shorten(std::string text) {
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + " ...";
  return text;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const fs::path relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// What a message names is the author's word, by `#line`: only the project's files and those beside the
/// source are read, and no device or other thing that never ends.
bool may_quote(const fs::path& file, const fs::path& source, const fs::path& root) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{4} << 20;
  std::error_code error;
  const fs::path real = fs::canonical(file, error), real_root = fs::weakly_canonical(root);
  if (error || !fs::is_regular_file(real, error) || fs::file_size(real, error) > kLargest) return false;
  return is_below(real, real_root) || is_below(real, fs::weakly_canonical(real_root / source).parent_path());
}

/// Two spaces, the line's number and the line itself, if the file can be read.
std::string excerpt(const Place& place, const fs::path& source, const fs::path& root) {
  const fs::path file = fs::path(place.file).is_absolute() ? fs::path(place.file) : root / place.file;
  if (!may_quote(file, source, root)) return "";
  const auto lines = lines_of(read_or_empty(file));
  if (place.line < 1 || static_cast<std::size_t>(place.line) > lines.size()) return "";
  return "\n  " + std::to_string(place.line) + " | " + lines[static_cast<std::size_t>(place.line) - 1];
}

std::string display(const std::string& file, const fs::path& root) {
  const fs::path path(file);
  if (!path.is_absolute()) return path.lexically_normal().string();
  const fs::path relative = path.lexically_normal().lexically_relative(root);
  return relative.empty() || relative.string().starts_with("..") ? file : relative.string();
}

bool same_file(const std::string& file, const fs::path& source, const fs::path& root) {
  return display(file, root) == display(source.string(), root);
}

std::vector<Message> parse_errors(const std::vector<std::string>& lines, const fs::path& source,
                                  const fs::path& root) {
  std::vector<Message> errors;
  std::optional<Place> use;  // where the author's file uses the template that the next error is in
  for (const std::string& line : lines) {
    if (auto place = parse_use(line)) {
      if (place->file.empty() && !errors.empty()) place->file = source.string();
      const bool ours = same_file(place->file, source, root);
      // g++ names the use before the error; clang and nvcc after it.
      const bool after = line.find("required from") == std::string::npos;
      if (ours && after && !errors.empty() && !same_file(errors.back().place.file, source, root))
        errors.back().place = *place;
      if (ours && !after) use = place;
    } else if (auto error = parse_error(line)) {
      if (use && !same_file(error->place.file, source, root)) error->place = *use;
      use.reset();
      error->place.file = display(error->place.file, root);
      if (std::find(errors.begin(), errors.end(), *error) == errors.end()) errors.push_back(*error);
    }
  }
  std::stable_sort(errors.begin(), errors.end(), [&](const Message& a, const Message& b) {
    return same_file(a.place.file, source, root) && !same_file(b.place.file, source, root);
  });
  return errors;
}

}  // namespace

std::string explain_compiler_output(std::string_view output, const Lesson& lesson, const fs::path& source) {
  const std::vector<std::string> lines = lines_of(output);
  std::vector<std::string> parts;
  for (const Message& error : parse_errors(lines, source, lesson.root)) {
    parts.push_back(error.place.file + ":" + std::to_string(error.place.line) + ": " + shorten(error.text) +
                    excerpt(error.place, source, lesson.root));
  }
  for (const std::string& line : lines) {
    const auto symbol = parse_undefined(line);
    if (!symbol) continue;
    const std::string text = explain_undefined(*symbol, lesson, source);
    if (std::find(parts.begin(), parts.end(), text) == parts.end()) parts.push_back(text);
  }
  if (parts.empty()) {  // nothing that we know how to read: the last lines as they are
    const std::size_t shown = std::min(lines.size(), kShownErrors);
    for (std::size_t i = lines.size() - shown; i < lines.size(); ++i) parts.push_back(shorten(lines[i]));
  }
  if (parts.empty()) return "The compiler failed without a message.";
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kShownErrors); ++i)
    text += (i == 0 ? "" : "\n") + parts[i];
  if (parts.size() > kShownErrors)
    text += "\nand " + std::to_string(parts.size() - kShownErrors) + " more errors";
  return text;
}

}  // namespace course::grading
