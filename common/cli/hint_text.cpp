#include "cli/hint_text.hpp"

#include <cctype>
#include <sstream>

#include "cli/terminal.hpp"

namespace course::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCodeIndent = 4;

bool is_space(char c) { return c == ' ' || c == '\n'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Where the emphasis that begins at `open` ends, or npos if that mark is none.
std::size_t end_of_emphasis(std::string_view text, std::size_t open, std::string_view mark) {
  const std::size_t begin = open + mark.size();
  if (begin >= text.size() || is_space(text[begin]) || (open > 0 && is_word(text[open - 1])))
    return std::string_view::npos;
  for (std::size_t at = begin; (at = text.find(mark, at)) != std::string_view::npos; ++at) {
    const std::size_t behind = at + mark.size();
    if (at > begin && !is_space(text[at - 1]) && (behind == text.size() || !is_word(text[behind]))) return at;
  }
  return std::string_view::npos;
}

std::string plain_line(std::string_view text, const fs::path& folder);

/// A link's words, and what it leads to unless the words say that already.
std::string plain_link(std::string_view words, const std::string& target, const fs::path& folder) {
  const bool outside = target.find("://") != std::string::npos;
  const std::string place = outside ? target : (folder / target).lexically_normal().generic_string();
  const std::string name = plain_line(words, folder);
  const bool same = name == place || name == fs::path(place).filename() || name == "`" + place + "`";
  return same ? place : name + " (" + place + ")";
}

/// The marks inside a line of text: code stays as it is, with its marks, links and emphasis do not.
std::string plain_line(std::string_view text, const fs::path& folder) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = std::string_view::npos;
    if (c == '`' && (end = text.find('`', at + 1)) != std::string_view::npos) {
      result += text.substr(at, end + 1 - at);
      at = end + 1;
    } else if (c == '*') {
      const std::string_view mark = text.substr(at).starts_with("**") ? "**" : "*";
      end = end_of_emphasis(text, at, mark);
      if (end == std::string_view::npos) {
        result += text[at++];
        continue;
      }
      const std::string inner = plain_line(text.substr(at + mark.size(), end - at - mark.size()), folder);
      const bool quoted = mark == "*" && inner.find(' ') != std::string::npos;
      result += quoted ? "\"" + inner + "\"" : inner;
      at = end + mark.size();
    } else if (c == '[' && (end = text.find("](", at)) != std::string_view::npos &&
               text.find(')', end) != std::string_view::npos) {
      const std::size_t close = text.find(')', end);
      result += plain_link(text.substr(at + 1, end - at - 1),
                           std::string(text.substr(end + 2, close - end - 2)), folder);
      at = close + 1;
    } else if (c == '\\' && at + 1 < text.size() && std::ispunct(static_cast<unsigned char>(text[at + 1]))) {
      result += text[at + 1];
      at += 2;
    } else {
      result += text[at++];
    }
  }
  return result;
}

/// A line of code that is too long goes on in the next line, further in; a comment stays one.
std::string broken_code(std::string code, std::size_t indent, std::size_t width) {
  const std::string left(indent, ' '), further(code.find_first_not_of(' ') + kCodeIndent, ' ');
  std::string result;
  while (indent + columns_of(code) > width) {
    std::size_t cut = std::string::npos;  // the last space that is within the width, behind the first word
    for (std::size_t at = code.find(' ', code.find_first_not_of(" /"));
         at != std::string::npos && indent + columns_of(code.substr(0, at)) <= width;
         at = code.find(' ', at + 1))
      cut = at;
    if (cut == std::string::npos) break;
    const std::string head = code.substr(0, cut);
    result += left + head + "\n";
    code = further + (head.find("//") != std::string::npos ? "// " : "") + code.substr(cut + 1);
  }
  return result + left + code + "\n";
}

/// How many characters of the line are the mark of a list's item: "- " or "12. "; 0: it begins none.
std::size_t item_mark(const std::string& line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool numbered = digits != std::string::npos && digits > 0 && line.compare(digits, 2, ". ") == 0;
  return numbered ? digits + 2 : 0;
}

/// Puts the text together, one paragraph or item after the other.
class Page {
 public:
  Page(const fs::path& folder, std::size_t indent, std::size_t width)
      : folder_(folder), indent_(indent), width_(width) {}

  void add(const std::string& line) {
    if (line.starts_with("```")) {
      end_paragraph();
      fenced_ = !fenced_;
    } else if (fenced_ || (paragraph_.empty() && line.starts_with("    "))) {
      add_code(fenced_ ? line : line.substr(kCodeIndent));
    } else if (line.find_first_not_of(' ') == std::string::npos) {
      end_paragraph();
      space_ = true;
    } else {
      add_words(line);
    }
  }

  std::string finish() {
    end_paragraph();
    return text_;
  }

 private:
  void add_words(const std::string& line) {
    const bool formula = line.starts_with("> ");
    const std::size_t mark = item_mark(line);
    if (mark > 0 || formula) end_paragraph();
    if (mark > 0) mark_ = line.substr(0, mark);
    if (formula) deeper_ = kCodeIndent;
    const std::size_t begin = formula ? 2 : mark > 0 ? mark : line.find_first_not_of(' ');
    paragraph_ += (paragraph_.empty() ? "" : " ") + line.substr(begin);
  }

  void add_code(const std::string& line) {
    make_space();
    const bool empty = line.find_first_not_of(' ') == std::string::npos;
    text_ += empty ? "\n" : broken_code(line, indent_ + kCodeIndent, width_);
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    make_space();
    const std::size_t indent = indent_ + deeper_;
    std::string lines = wrap(plain_line(paragraph_, folder_), indent + mark_.size(), width_);
    lines.replace(indent, mark_.size(), mark_);
    text_ += lines;
    paragraph_.clear();
    mark_.clear();
    deeper_ = 0;
  }

  void make_space() {
    if (space_ && !text_.empty()) text_ += "\n";
    space_ = false;
  }

  const fs::path& folder_;
  std::size_t indent_, width_;
  std::string text_, paragraph_;
  std::string mark_;        ///< of the item that the paragraph is
  std::size_t deeper_ = 0;  ///< how much further in the paragraph stands
  bool fenced_ = false;     ///< inside ``` and ```
  bool space_ = false;      ///< an empty line is due
};

}  // namespace

std::string plain_text(std::string_view markdown, const fs::path& folder, std::size_t indent,
                       std::size_t width) {
  Page page(folder, indent, width);
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) page.add(line);
  return page.finish();
}

}  // namespace course::cli
