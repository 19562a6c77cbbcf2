// What stands inside a paragraph: code, links, emphasis, tags, escapes.

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "cli/markdown.hpp"

namespace course::cli {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// How often the first character is repeated.
std::size_t run_length(std::string_view text) {
  return std::min(text.find_first_not_of(text[0]), text.size());
}

/// `code` with its backquotes at the begin of the text; empty if it has no end.
std::string_view code_at(std::string_view text) {
  const std::size_t quotes = run_length(text);
  for (std::size_t at = quotes; (at = text.find('`', at)) != std::string_view::npos;) {
    const std::size_t closing = run_length(text.substr(at));
    if (closing == quotes) return text.substr(0, at + closing);
    at += closing;
  }
  return {};
}

/// Where the bracket at the begin of the text is closed; brackets in code do not count.
std::size_t closing_bracket(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '`') {
      if (const std::string_view code = code_at(text.substr(at)); !code.empty()) at += code.size() - 1;
    } else if (text[at] == open) {
      ++depth;
    } else if (text[at] == close && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// What a construct at the begin of a text becomes, and how many bytes it takes there.
struct Piece {
  std::string words;
  std::size_t bytes;
};

/// [words](target) and ![words](target).
std::optional<Piece> link_at(std::string_view text) {
  const std::size_t begin = text.starts_with('!') ? 1 : 0;
  if (begin >= text.size() || text[begin] != '[') return std::nullopt;
  const std::size_t end = closing_bracket(text.substr(begin), '[', ']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view target = text.substr(begin + end + 1);
  if (!target.starts_with('(')) return std::nullopt;
  const std::size_t target_end = closing_bracket(target, '(', ')');
  if (target_end == std::string_view::npos) return std::nullopt;
  return Piece{markdown_words(text.substr(begin + 1, end - 1)), begin + end + 1 + target_end + 1};
}

/// A tag of HTML, of which only a picture's description remains, or an address in angle brackets.
std::optional<Piece> tag_at(std::string_view text) {
  const std::size_t end = text.find('>');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(1, end - 1);
  if (inside.starts_with("http://") || inside.starts_with("https://"))
    return Piece{std::string(inside), end + 1};
  constexpr std::array kTags = {"a",   "b",  "br", "code", "details", "div", "em",     "i",
                                "img", "li", "p",  "pre",  "span",    "sub", "strong", "summary",
                                "sup", "td", "th", "tr",   "ul",      "hr",  "table"};
  const std::string_view rest = inside.substr(inside.starts_with('/') ? 1 : 0);
  const std::string_view name = rest.substr(0, rest.find_first_of(" /\n"));
  if (std::find(kTags.begin(), kTags.end(), name) == kTags.end()) return std::nullopt;
  const std::size_t alt = inside.find(" alt=\"");
  if (name != "img" || alt == std::string_view::npos) return Piece{"", end + 1};
  const std::string_view words = inside.substr(alt + 6);
  return Piece{"Picture: " + markdown_words(words.substr(0, words.find('"'))), end + 1};
}

/// @ref name "words" of Doxygen.
std::optional<Piece> reference_at(std::string_view text) {
  if (!text.starts_with("@ref ") && !text.starts_with("\\ref ")) return std::nullopt;
  const std::size_t name_end = std::min(text.find_first_of(" \n", 5), text.size());
  if (text.substr(name_end).starts_with(" \"")) {
    const std::size_t end = text.find('"', name_end + 2);
    if (end != std::string_view::npos)
      return Piece{std::string(text.substr(name_end + 2, end - name_end - 2)), end + 1};
  }
  return Piece{std::string(text.substr(5, name_end - 5)), name_end};
}

/// A character that Markdown or HTML needs written in another way.
std::optional<Piece> escape_at(std::string_view text) {
  if (text.size() > 1 && text[0] == '\\' && std::ispunct(static_cast<unsigned char>(text[1])) != 0)
    return Piece{std::string(1, text[1]), 2};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEntities = {
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&nbsp;", " "}}};
  for (const auto& [entity, character] : kEntities)
    if (text.starts_with(entity)) return Piece{std::string(character), entity.size()};
  return std::nullopt;
}

std::optional<Piece> piece_at(std::string_view text) {
  switch (text[0]) {
    case '`':
      if (const std::string_view code = code_at(text); !code.empty())
        return Piece{std::string(code), code.size()};
      return std::nullopt;
    case '!':
    case '[':
      return link_at(text);
    case '<':
      return tag_at(text);
    case '@':
      return reference_at(text);
    case '&':
      return escape_at(text);
    case '\\':
      if (auto reference = reference_at(text)) return reference;
      return escape_at(text);
    default:
      return std::nullopt;
  }
}

/// The words so far, and the asterisks in them that may turn out to open emphasis.
class Emphasis {
 public:
  /// Adds asterisks; `next` is what follows them. Both ends of an emphasis go once the second one is seen.
  void add_asterisks(std::string& words, std::size_t count, char next) {
    const char before = words.empty() ? ' ' : words.back();
    const bool closes = !is_space(before) && !is_alphanumeric(next);
    const bool opens = !is_space(next) && !is_alphanumeric(before);
    if (closes) {
      for (std::size_t i = open_.size(); i-- > 0;) {
        if (open_[i].count != count) continue;
        words.erase(open_[i].at, count);
        open_.resize(i);
        return;
      }
    }
    if (opens) open_.push_back({words.size(), count});
    words.append(count, '*');
  }

 private:
  struct Open {
    std::size_t at, count;
  };
  std::vector<Open> open_;
};

}  // namespace

std::string markdown_words(std::string_view paragraph) {
  std::string words;
  Emphasis emphasis;
  while (!paragraph.empty()) {
    if (paragraph[0] == '*') {
      const std::size_t count = run_length(paragraph);
      paragraph.remove_prefix(count);
      emphasis.add_asterisks(words, count, paragraph.empty() ? ' ' : paragraph[0]);
    } else if (const std::optional<Piece> piece = piece_at(paragraph)) {
      words += piece->words;
      paragraph.remove_prefix(piece->bytes);
    } else {
      words += paragraph[0] == '\n' ? ' ' : paragraph[0];
      paragraph.remove_prefix(1);
    }
  }
  return words;
}

}  // namespace course::cli
