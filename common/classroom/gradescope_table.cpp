#include "classroom/gradescope_table.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "classroom/text.hpp"

namespace course::classroom {
namespace {

/// Cuts `beginning` off; false if the text begins otherwise.
bool cut(std::string_view& text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return false;
  text.remove_prefix(beginning.size());
  return true;
}

std::string_view without_spaces_at_end(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// The character that the digits of an escape such as \u00e9 stand for; '?' if they stand for none.
std::string escaped_character(std::string_view& text, std::size_t digits) {
  unsigned code = 0;
  const std::string_view hex = text.substr(0, digits);
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
  text.remove_prefix(hex.size());
  const bool valid = error == std::errc() && end == hex.data() + hex.size() && hex.size() == digits;
  return valid ? to_utf8(static_cast<char32_t>(code)) : "?";
}

/// What stands between double quotes; nothing if they do not close on this line.
std::optional<std::string> double_quoted(std::string_view text) {
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return text.empty() ? std::optional(value) : std::nullopt;
    if (c != '\\' || text.empty()) {
      value += c;
      continue;
    }
    const char kind = text.front();
    text.remove_prefix(1);
    if (kind == 'x' || kind == 'u' || kind == 'U')
      value += escaped_character(text, kind == 'x' ? 2 : kind == 'u' ? 4 : 8);
    else
      value += kind == 'n' || kind == 't' || kind == 'r' || kind == 'e' ? ' ' : kind;
  }
  return std::nullopt;
}

std::optional<std::string> single_quoted(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\'') {
      value += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\'') {
      value += text[i++];
    } else {
      return i + 1 == text.size() ? std::optional(value) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// A value that stands on one line; empty if it is none, or is not written as one.
std::string scalar(std::string_view text) {
  text = without_spaces_at_end(text);
  if (cut(text, "\"")) return double_quoted(text).value_or("");
  if (cut(text, "'")) return single_quoted(text).value_or("");
  constexpr std::string_view kOtherForms = "|>&*!{[%@`";
  if (text.empty() || kOtherForms.find(text.front()) != std::string_view::npos || text == "~" ||
      text == "null")
    return {};
  return std::string(text);
}

/// What the table says of one who handed in.
struct Entry {
  std::string name, number, address;

  /// One line of it, without the spaces before.
  void read(std::string_view line) {
    if (cut(line, ":name: "))
      name = scalar(line);
    else if (cut(line, ":sid: "))
      number = scalar(line);
    else if (cut(line, ":email: "))
      address = scalar(line);
  }
};

/// "submission_234567" of a line that says no more.
std::string folder_of(std::string_view line) {
  line = without_spaces_at_end(line);
  return line.starts_with("submission_") && line.ends_with(':') ? std::string(line.substr(0, line.size() - 1))
                                                                : "";
}

}  // namespace

std::map<std::string, std::vector<Submitter>> read_gradescope_table(std::string_view yaml) {
  std::map<std::string, std::vector<Entry>> found;
  std::string folder;
  bool of_submitters = false;
  while (!yaml.empty()) {
    const std::size_t end = yaml.find('\n');
    std::string_view line = yaml.substr(0, end);
    yaml.remove_prefix(end == std::string_view::npos ? yaml.size() : end + 1);
    if (line.empty()) continue;
    if (line.front() != ' ') {
      folder = folder_of(line);
      of_submitters = false;
    } else if (line.starts_with("  :")) {
      of_submitters = without_spaces_at_end(line) == "  :submitters:";
    } else if (of_submitters && !folder.empty()) {
      if (cut(line, "  - ")) {
        found[folder].emplace_back().read(line);
      } else if (cut(line, "    ") && !found[folder].empty()) {
        found[folder].back().read(line);
      }
    }
  }
  // Name and number may be the students' own: two with the same ones are told apart by their addresses.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> addresses;
  for (const auto& [name, entries] : found)
    for (const Entry& entry : entries) addresses[{entry.name, entry.number}].insert(entry.address);
  std::map<std::string, std::vector<Submitter>> table;
  for (const auto& [name, entries] : found)
    for (const Entry& entry : entries) {
      const bool is_of_one = addresses[{entry.name, entry.number}].size() == 1;
      if (!entry.name.empty())
        table[name].push_back(
            {entry.name, entry.number.empty() || !is_of_one ? entry.address : entry.number});
    }
  return table;
}

}  // namespace course::classroom
