#include "grading/build/student_code.hpp"

#include <algorithm>
#include <cctype>

namespace course::grading {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Blanks out text[begin, end), line ends excepted.
void blank_out(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
    if (text[i] != '\n') text[i] = ' ';
}

std::size_t end_of(const std::string& text, std::size_t found, std::size_t length) {
  return found == std::string::npos ? text.size() : found + length;
}

/// The end of the literal whose opening quote is at `begin`: behind its closing quote, or at the line's end.
std::size_t literal_end(const std::string& text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[begin])
      return i + 1;
  }
  return std::min(text.find('\n', begin), text.size());
}

/// The end of the directive at `begin`: of its line, and of those that a backslash joins to it.
std::size_t directive_end(const std::string& text, std::size_t begin) {
  std::size_t end = text.find('\n', begin);
  while (end != std::string::npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

/// Without comments, literals and directives. What is left stays where it was.
std::string code_of(std::string_view source) {
  std::string text(source);
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (text.compare(i, 2, "//") == 0)
      end = std::min(text.find('\n', i), text.size());
    else if (text.compare(i, 2, "/*") == 0)
      end = end_of(text, text.find("*/", i + 2), 2);
    else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_name_character(text[i - 1]))))
      end = literal_end(text, i);  // a ' behind a digit only separates digits
    else if (text[i] == '#' && line_begins)
      end = directive_end(text, i);
    line_begins = text[i] == '\n' || (line_begins && is_blank(text[i]));
    if (end == i) continue;
    blank_out(text, i, end);
    i = end - 1;
  }
  return text;
}

/// The index of the ')' that closes the '(' at `open`, or npos.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Fills in the name and the parameters of the function whose head this is. False: it is none.
bool read_function(Block& block, std::string_view head) {
  for (auto open = head.find('('); open != std::string_view::npos; open = head.find('(', open)) {
    const auto close = closing(head, open);
    const std::string_view name = word_before(head, open);
    if (close == std::string_view::npos || name.empty()) return false;
    if (name == "for" || name == "while" || name == "if" || name == "switch") return false;
    const bool attribute = name.starts_with("__") || name == "alignas";
    if (!attribute) {
      block.name = name;
      block.parameters = collapse(head.substr(open, close + 1 - open));
      block.kernel = has_word(head.substr(0, open), "__global__");
      return true;
    }
    open = close;
  }
  return false;
}

Block read_block(std::string_view head, bool inside_function) {
  Block block;
  if (has_word(head, "namespace")) {
    block.kind = Block::Kind::name_space;
    block.name = word_before(head, head.size());
  } else if (inside_function) {
    block.kind = Block::Kind::other;
  } else if (read_function(block, head)) {
    block.kind = Block::Kind::function;
  } else if (has_word(head, "struct") || has_word(head, "class") || has_word(head, "union") ||
             has_word(head, "enum")) {
    block.kind = Block::Kind::type;
  }
  return block;
}

}  // namespace

std::string_view word_before(std::string_view text, std::size_t end) {
  if (end > text.size()) return {};
  while (end > 0 && is_blank(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool has_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_name_character(text[at - 1])) &&
        (end == text.size() || !is_name_character(text[end])))
      return true;
  }
  return false;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_blanks(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

std::string collapse(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_blank(c))
      result += c;
    else if (!result.ends_with(' '))
      result += ' ';
  }
  return result;
}

StudentCode::StudentCode(std::string_view source) : text_(code_of(source)), line_starts_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  find_words();
  find_blocks();
}

std::string_view StudentCode::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[static_cast<std::size_t>(number) - 1];
  const std::size_t end = std::min(text_.find('\n', begin), text_.size());
  return std::string_view(text_).substr(begin, end - begin);
}

int StudentCode::line_before(int number) const {
  for (--number; number > 0; --number) {
    const std::string_view code = line(number);
    if (!std::all_of(code.begin(), code.end(), is_blank)) break;
  }
  return std::max(number, 0);
}

int StudentCode::last_line() const {
  return std::max(line_before(static_cast<int>(line_starts_.size()) + 1), 1);
}

void StudentCode::find_words() {
  int line = 1;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') ++line;
    if (!is_name_character(text_[i])) continue;
    std::size_t end = i;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const bool number = std::isdigit(static_cast<unsigned char>(text_[i])) != 0;
    if (!number) words_.push_back({std::string_view(text_).substr(i, end - i), i, line});
    i = end - 1;
  }
}

void StudentCode::find_blocks() {
  std::vector<std::size_t> open;  // indices of blocks
  std::size_t head = 0;           // where the current declaration or statement begins
  int line = 1, parentheses = 0;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (c == '\n') ++line;
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (c == '{') {
      while (head < i && is_blank(text_[head])) ++head;
      const bool inside = std::any_of(open.begin(), open.end(), [&](std::size_t index) {
        return blocks_[index].kind == Block::Kind::function;
      });
      Block block = read_block(std::string_view(text_).substr(head, i - head), inside);
      block.open_line = line;
      block.head_line =
          line - static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(head),
                                             text_.begin() + static_cast<std::ptrdiff_t>(i), '\n'));
      open.push_back(blocks_.size());
      blocks_.push_back(std::move(block));
    } else if (c == '}') {
      if (!open.empty()) {
        blocks_[open.back()].close_line = line;
        open.pop_back();
      } else if (surplus_brace_ == 0) {
        surplus_brace_ = line;
      }
    }
    if (c == '{' || c == '}') parentheses = 0;
    if (c == '{' || c == '}' || (c == ';' && parentheses <= 0)) head = i + 1;
  }
}

const Block* StudentCode::function_around(int line) const {
  const Block* found = nullptr;
  for (const Block& block : blocks_)
    if (block.kind == Block::Kind::function && block.holds(line)) found = &block;
  return found;
}

const Block* StudentCode::function_named(std::string_view name) const {
  const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& block) {
    return block.kind == Block::Kind::function && block.name == name;
  });
  return found == blocks_.rend() ? nullptr : &*found;
}

char StudentCode::before(const Word& word) const {
  std::size_t i = word.at;
  while (i > 0 && is_blank(text_[i - 1])) --i;
  return i == 0 ? '\0' : text_[i - 1];
}

char StudentCode::behind(const Word& word) const {
  std::size_t i = word.at + word.text.size();
  while (i < text_.size() && is_blank(text_[i])) ++i;
  return i == text_.size() ? '\0' : text_[i];
}

std::string parameters_of(const std::string& code, const std::string& name) {
  for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const auto open = code.find_first_not_of(" \n", at + name.size());
    if ((at > 0 && is_name_character(code[at - 1])) || open == std::string::npos || code[open] != '(')
      continue;
    const auto close = closing(code, open);
    return close == std::string::npos ? "" : collapse(std::string_view(code).substr(open, close + 1 - open));
  }
  return "";
}

}  // namespace course::grading
