#include "cli/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "cli/markdown_table.hpp"

namespace course::cli {
namespace {

constexpr std::size_t kCodeIndent = 4;

std::size_t leading_spaces(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

/// "```" or "~~~" if the line opens or closes a block of code; else empty.
std::string_view fence_of(std::string_view line) {
  line.remove_prefix(leading_spaces(line));
  return line.starts_with("```") || line.starts_with("~~~") ? line.substr(0, 3) : std::string_view{};
}

/// Columns of "- " or "12. " behind the spaces of a list's item; 0 if the line is none.
std::size_t marker_of(std::string_view line) {
  line.remove_prefix(leading_spaces(line));
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) ++digits;
  const std::string_view rest = line.substr(digits);
  if (rest.size() < 2 || rest[1] != ' ') return 0;
  const bool marks =
      digits > 0 ? rest[0] == '.' || rest[0] == ')' : std::string_view("-*+").find(rest[0]) < 3;
  return marks ? digits + 1 + leading_spaces(rest.substr(1)) : 0;
}

std::size_t heading_level(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level > 0 && level <= 6 && line.substr(level).starts_with(' ') ? level : 0;
}

/// A command of Doxygen on a line of its own, or its mark for a table of contents.
bool is_command(std::string_view line) {
  line.remove_prefix(leading_spaces(line));
  if (line.starts_with("[TOC]")) return true;
  const bool command = line.size() > 1 && (line[0] == '@' || line[0] == '\\') &&
                       std::islower(static_cast<unsigned char>(line[1])) != 0;
  return command && !line.substr(1).starts_with("ref ");
}

/// The page's lines without HTML comments and commands. A line that held nothing else is not there at all.
std::vector<std::string> lines_of(std::string_view markdown) {
  std::vector<std::string> lines;
  bool in_comment = false;
  std::string_view in_code;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    std::string line(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    if (line.ends_with('\r')) line.pop_back();
    if (const std::string_view fence = in_comment ? std::string_view{} : fence_of(line); !fence.empty())
      in_code = in_code.empty() ? (fence[0] == '`' ? "```" : "~~~") : fence == in_code ? "" : in_code;
    if (!in_code.empty()) {
      lines.push_back(line);
      continue;
    }
    const bool was_blank = is_blank(line) && !in_comment;
    for (std::size_t begin = 0;;) {
      if (!in_comment && (begin = line.find("<!--", begin)) == std::string::npos) break;
      const std::size_t close = line.find("-->", begin);
      in_comment = close == std::string::npos;
      line.erase(begin, in_comment ? std::string::npos : close + 3 - begin);
      if (in_comment) break;
    }
    if (was_blank || !(is_blank(line) || is_command(line))) lines.push_back(line);
  }
  return lines;
}

/// Turns lines into text, block by block.
class Page {
 public:
  Page(std::string_view markdown, const MarkdownLayout& layout)
      : lines_(lines_of(markdown)), layout_(layout) {}

  std::string text() {
    while (at_ < lines_.size()) {
      if (is_blank(line())) {
        gap_ = true;
        ++at_;
      } else {
        add_block();
      }
    }
    return std::move(text_);
  }

 private:
  const std::string& line() const { return lines_[at_]; }

  void add_block() {
    const std::size_t spaces = leading_spaces(line());
    if (spaces < item_content_ && gap_ && marker_of(line()) == 0) item_content_ = 0;  // the list is over
    if (!fence_of(line()).empty()) return add_fenced_code();
    if (spaces >= item_content_ + 4 && gap_) return add_indented_code();
    if (heading_level(line()) > 0) return add_heading();
    if (line()[spaces] == '>') return add_quote();
    if (is_table(lines_, at_)) return add_table();
    add_paragraph();
  }

  /// What goes between two blocks: an empty line, if there was one in the page.
  void separate(bool always = false) {
    if (!text_.empty() && (gap_ || always)) text_ += "\n";
    gap_ = false;
  }

  void add_heading() {
    item_content_ = 0;
    std::string words = markdown_words(line().substr(heading_level(line()) + 1));
    if (const std::size_t anchor = words.find(" {#"); anchor != std::string::npos) words.erase(anchor);
    separate(true);
    const std::string wrapped = wrap(words, layout_.heading, layout_.width);
    text_ += layout_.paint_heading
                 ? layout_.paint_heading(std::string_view(wrapped).substr(0, wrapped.size() - 1)) + "\n"
                 : wrapped;
    ++at_;
  }

  void add_fenced_code() {
    const std::size_t spaces = leading_spaces(line());
    const std::string fence(fence_of(line()));
    std::vector<std::string_view> code;
    for (++at_; at_ < lines_.size() && fence_of(line()) != fence; ++at_)
      code.push_back(std::string_view(line()).substr(std::min(spaces, leading_spaces(line()))));
    if (at_ < lines_.size()) ++at_;
    add_code(code);
  }

  void add_indented_code() {
    const std::size_t spaces = item_content_ + 4;
    std::vector<std::string_view> code;
    for (; at_ < lines_.size() && (is_blank(line()) || leading_spaces(line()) >= spaces); ++at_)
      code.push_back(std::string_view(line()).substr(std::min(spaces, line().size())));
    for (; !code.empty() && is_blank(code.back()); code.pop_back()) --at_;
    add_code(code);
  }

  void add_code(const std::vector<std::string_view>& code) {
    separate();
    std::size_t widest = 0;
    for (const std::string_view one : code) widest = std::max(widest, columns_of(one));
    const std::size_t room = layout_.width - std::min(widest, layout_.width);
    const std::size_t indent = std::min(layout_.indent + std::max(item_content_, kCodeIndent - 2), room);
    for (const std::string_view one : code)
      text_ += is_blank(one) ? "\n" : std::string(indent, ' ').append(one) + "\n";
  }

  /// Each line of a quote is a formula of its own.
  void add_quote() {
    separate();
    for (; at_ < lines_.size() && line().substr(leading_spaces(line())).starts_with('>'); ++at_) {
      const std::string words = markdown_words(line().substr(leading_spaces(line()) + 1));
      text_ += wrap(words.substr(leading_spaces(words)), layout_.indent + item_content_ + 2, layout_.width);
    }
  }

  void add_table() {
    separate();
    text_ += table_to_text(lines_, at_, layout_.indent, layout_.width);
  }

  /// A paragraph or an item of a list, with the lines that go on with it.
  void add_paragraph() {
    separate();
    const std::size_t spaces = leading_spaces(line()), marker = marker_of(line());
    if (marker > 0) item_content_ = spaces + marker;
    const std::size_t indent = layout_.indent + item_content_;
    const std::string mark = line().substr(spaces, marker);
    std::string words = line().substr(spaces + marker);
    for (++at_; at_ < lines_.size() && goes_on(); ++at_)
      words += "\n" + line().substr(leading_spaces(line()));
    std::string wrapped = wrap(markdown_words(words), indent, layout_.width);
    if (marker > 0 && !wrapped.empty()) wrapped.replace(indent - marker, marker, mark);
    text_ += wrapped;
  }

  bool goes_on() const {
    const std::string& next = line();
    return !is_blank(next) && marker_of(next) == 0 && fence_of(next).empty() && heading_level(next) == 0 &&
           next[leading_spaces(next)] != '>' && !is_table(lines_, at_);
  }

  std::vector<std::string> lines_;
  const MarkdownLayout& layout_;
  std::size_t at_ = 0;
  std::size_t item_content_ = 0;  ///< columns before the words of the list's item that we are in; 0: in none
  bool gap_ = false;              ///< there were empty lines since the last block
  std::string text_;
};

}  // namespace

std::string markdown_to_text(std::string_view markdown, const MarkdownLayout& layout) {
  return Page(markdown, layout).text();
}

std::string markdown_to_text(std::string_view markdown, const Terminal& terminal) {
  const MarkdownLayout layout{
      .width = terminal.width(),
      .paint_heading = [&terminal](std::string_view words) { return terminal.paint(Style::strong, words); }};
  return markdown_to_text(markdown, layout);
}

}  // namespace course::cli
