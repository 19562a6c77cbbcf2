#include "simt/rewriter/lexer.hpp"

#include <array>
#include <cstring>

namespace simt::rewriter {
namespace {

enum class CharClass : std::uint8_t { punctuation, blank, newline, word, digit, quote };

constexpr std::array<CharClass, 256> make_classes() {
  std::array<CharClass, 256> classes{};
  for (const char blank : {' ', '\t', '\v', '\f', '\r'})
    classes[static_cast<unsigned char>(blank)] = CharClass::blank;
  classes['\n'] = CharClass::newline;
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = CharClass::word;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = CharClass::word;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = CharClass::digit;
  for (std::size_t c = 128; c < 256; ++c) classes[c] = CharClass::word;  // UTF-8 in identifiers
  classes['_'] = classes['$'] = CharClass::word;
  classes['"'] = classes['\''] = CharClass::quote;
  return classes;
}
constexpr auto kClasses = make_classes();

CharClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool is_word_char(char c) { return class_of(c) == CharClass::word || class_of(c) == CharClass::digit; }

Word classify(std::string_view text) {
  if (text.size() < 3 || text.size() > 12) return Word::other;
  if (text[0] == 'a') return text == "asm" ? Word::inline_asm : Word::other;
  if (text[0] != '_' || text[1] != '_') return Word::other;
  if (text == "__shared__") return Word::shared;
  if (text == "__global__") return Word::global;
  if (text == "__noinline__") return Word::noinline;
  return text == "__asm__" || text == "__asm" ? Word::inline_asm : Word::other;
}

DirectiveKind directive_kind(std::string_view name) {
  struct Entry {
    std::string_view name;
    DirectiveKind kind;
  };
  constexpr Entry kEntries[] = {
      {"define", DirectiveKind::define},   {"include", DirectiveKind::include},
      {"if", DirectiveKind::if_},          {"ifdef", DirectiveKind::ifdef},
      {"ifndef", DirectiveKind::ifndef},   {"elif", DirectiveKind::elif},
      {"elifdef", DirectiveKind::elifdef}, {"elifndef", DirectiveKind::elifndef},
      {"else", DirectiveKind::else_},      {"endif", DirectiveKind::endif},
  };
  for (const Entry& entry : kEntries)
    if (entry.name == name) return entry.kind;
  return DirectiveKind::other;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source), size_(source.size()) { result_.source = source; }

  Lexed run() {
    result_.code.reserve(size_ / 6);
    if (source_.starts_with("\xef\xbb\xbf")) position_ = 3;  // a byte order mark is no part of the first word
    bool line_start = true;
    while (position_ < size_) {
      const char c = source_[position_];
      const CharClass kind = class_of(c);
      if (kind == CharClass::blank) {
        ++position_;
      } else if (kind == CharClass::newline) {
        ++position_;
        line_start = true;
      } else if (c == '#' && line_start) {
        directive();
      } else if (!skip_comment_or_splice()) {
        line_start = false;
        token(result_.code);
      }
    }
    return std::move(result_);
  }

 private:
  char at(std::size_t position) const { return position < size_ ? source_[position] : '\0'; }

  /// The first position at or behind `position` that is not inside a backslash-newline.
  std::size_t past_splices(std::size_t position) const {
    while (at(position) == '\\') {
      const std::size_t length = splice_length(source_, position);
      if (length == 0) break;
      position += length;
    }
    return position;
  }

  /// Skips one comment or backslash-newline, if there is one here.
  bool skip_comment_or_splice() {
    const char c = source_[position_];
    if (c == '\\') {
      const std::size_t length = splice_length(source_, position_);
      position_ += length;
      return length != 0;
    }
    if (c != '/') return false;
    const std::size_t second = past_splices(position_ + 1);
    if (at(second) == '/') {
      position_ = line_end(second + 1);
      return true;
    }
    if (at(second) != '*') return false;
    position_ = second + 1;
    while (position_ < size_) {
      const std::size_t star = source_.find('*', position_);
      if (star == std::string_view::npos) {
        position_ = size_;
        break;
      }
      const std::size_t slash = past_splices(star + 1);
      position_ = star + 1;
      if (at(slash) == '/') {
        position_ = slash + 1;
        break;
      }
    }
    return true;
  }

  /// The position of the newline that ends the line for real: one behind a backslash does not.
  std::size_t line_end(std::size_t position) const {
    while (true) {
      const std::size_t newline = source_.find('\n', position);
      if (newline == std::string_view::npos) return size_;
      std::size_t before = newline;
      while (before > position && class_of(source_[before - 1]) == CharClass::blank) --before;
      if (before == position || source_[before - 1] != '\\') return newline;
      position = newline + 1;
    }
  }

  void directive() {
    Directive found{};
    found.begin = static_cast<std::uint32_t>(position_);
    found.code_index = static_cast<std::uint32_t>(result_.code.size());
    found.first_token = static_cast<std::uint32_t>(result_.directive_tokens.size());
    found.kind = DirectiveKind::other;
    ++position_;
    bool named = false;
    while (position_ < size_ && source_[position_] != '\n') {
      if (class_of(source_[position_]) == CharClass::blank) {
        ++position_;
        continue;
      }
      if (skip_comment_or_splice()) continue;
      const bool header = named && found.kind == DirectiveKind::include &&
                          found.first_token == result_.directive_tokens.size();
      if (header && header_name()) continue;
      token(result_.directive_tokens);
      if (!named) {
        named = true;
        const Token name = result_.directive_tokens.back();
        result_.directive_tokens.pop_back();
        if (name.kind == TokenKind::word) found.kind = directive_kind(clean_text(source_, name));
      }
    }
    if (found.kind == DirectiveKind::other) result_.directive_tokens.resize(found.first_token);
    found.last_token = static_cast<std::uint32_t>(result_.directive_tokens.size());
    found.end = static_cast<std::uint32_t>(position_);
    result_.directives.push_back(found);
  }

  /// A header's name: no escapes, no comments, up to its closing sign on the same line.
  bool header_name() {
    const char open = source_[position_];
    if (open != '<' && open != '"') return false;
    const std::size_t close = source_.find_first_of(open == '<' ? ">\n" : "\"\n", position_ + 1);
    if (close == std::string_view::npos || source_[close] == '\n') return false;
    add(result_.directive_tokens, open == '<' ? TokenKind::other : TokenKind::literal, position_, close + 1);
    return true;
  }

  void add(std::vector<Token>& tokens, TokenKind kind, std::size_t begin, std::size_t end,
           bool spliced = false) {
    tokens.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), kind, Word::other, spliced});
    position_ = end;
  }

  void token(std::vector<Token>& tokens) {
    const char c = source_[position_];
    switch (class_of(c)) {
      case CharClass::word:
        word(tokens);
        return;
      case CharClass::digit:
        number(tokens);
        return;
      case CharClass::quote:
        literal(tokens, position_);
        return;
      default:
        if (c == '.' && class_of(at(past_splices(position_ + 1))) == CharClass::digit) {
          number(tokens);
        } else {
          punctuation(tokens);
        }
    }
  }

  void word(std::vector<Token>& tokens) {
    const std::size_t begin = position_;
    bool spliced = false;
    std::size_t end = begin + 1;
    while (true) {
      while (end < size_ && is_word_char(source_[end])) ++end;
      const std::size_t next = past_splices(end);
      if (next == end || !is_word_char(at(next))) break;
      spliced = true;
      end = next;
    }
    if (end - begin <= 3 || spliced) {
      const std::size_t quote = past_splices(end);
      if (at(quote) == '"' && raw_literal(tokens, begin, end, quote, spliced)) return;
    }
    add(tokens, TokenKind::word, begin, end, spliced);
    Token& added = tokens.back();
    added.word =
        spliced ? classify(clean_text(source_, added)) : classify(source_.substr(begin, end - begin));
    if (added.word != Word::other) result_.has_cuda = true;
  }

  bool raw_literal(std::vector<Token>& tokens, std::size_t begin, std::size_t end, std::size_t quote,
                   bool spliced) {
    const Token prefix_token{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                             TokenKind::word, Word::other, spliced};
    const std::string prefix = clean_text(source_, prefix_token);
    if (prefix != "R" && prefix != "LR" && prefix != "uR" && prefix != "UR" && prefix != "u8R") return false;
    constexpr std::size_t kLongestDelimiter = 16;
    std::size_t open = source_.substr(quote + 1, kLongestDelimiter + 1).find_first_of("( )\\\t\v\f\r\n");
    if (open == std::string_view::npos || source_[quote + 1 + open] != '(') return false;
    open += quote + 1;
    const std::string closing = ")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"";
    const std::size_t close = source_.find(closing, open + 1);
    add(tokens, TokenKind::literal, begin, close == std::string_view::npos ? size_ : close + closing.size());
    return true;
  }

  /// A string or a character; one that is never closed ends with its line, as in `#error don't`.
  void literal(std::vector<Token>& tokens, std::size_t begin) {
    const char quote = source_[begin];
    std::size_t end = begin + 1;
    bool spliced = false;
    bool closed = false;
    while (end < size_ && source_[end] != '\n') {
      const char c = source_[end];
      if (c == '\\') {
        const std::size_t length = splice_length(source_, end);
        spliced |= length != 0;
        end += length != 0 ? length : (at(end + 1) == '\n' || end + 1 == size_ ? 1 : 2);
        continue;
      }
      ++end;
      if (c == quote) {
        closed = true;
        break;
      }
    }
    add(tokens, TokenKind::literal, begin, end, spliced);
    tokens.back().closed = closed;
  }

  void number(std::vector<Token>& tokens) {
    const std::size_t begin = position_;
    bool spliced = false;
    std::size_t end = begin;
    while (true) {
      const std::size_t next = past_splices(end);
      const char c = at(next);
      std::size_t after = next + 1;
      if (c == '\'') {
        after = past_splices(after);
        if (!is_word_char(at(after))) break;  // not a digit separator
        ++after;
      } else if (c == '+' || c == '-') {
        const char exponent = at(end - 1);
        if (end == begin || std::strchr("eEpP", exponent) == nullptr || exponent == '\0') break;
      } else if (!is_word_char(c) && c != '.') {
        break;
      }
      spliced |= next != end;
      end = after;
    }
    add(tokens, TokenKind::number, begin, end, spliced);
  }

  void punctuation(std::vector<Token>& tokens);

  std::string_view source_;
  std::size_t size_;
  std::size_t position_ = 0;
  Lexed result_;
};

void Lexer::punctuation(std::vector<Token>& tokens) {
  const std::size_t begin = position_;
  const std::size_t one = begin + 1;
  const auto single = [&](TokenKind kind) { add(tokens, kind, begin, one); };
  const char first = source_[begin];
  switch (first) {
    case '(':
      return single(TokenKind::open_paren);
    case ')':
      return single(TokenKind::close_paren);
    case '[':
      return single(TokenKind::open_bracket);
    case ']':
      return single(TokenKind::close_bracket);
    case '{':
      return single(TokenKind::open_brace);
    case '}':
      return single(TokenKind::close_brace);
    case ',':
      return single(TokenKind::comma);
    case ';':
      return single(TokenKind::semicolon);
    case '?':
      return single(TokenKind::question);
    default:
      break;
  }
  const std::size_t two = past_splices(one);
  const char second = at(two);
  const auto pair = [&](TokenKind kind) { add(tokens, kind, begin, two + 1, two != one); };
  const auto triple = [&](TokenKind kind, std::size_t three) {
    add(tokens, kind, begin, three + 1, three != begin + 2);
  };
  if (first == '<' && second == '<') {
    const std::size_t three = past_splices(two + 1);
    if (at(three) == '<') {
      result_.has_cuda = true;
      return triple(TokenKind::launch, three);
    }
    // Nothing else that nvcc accepts has a blank between the two; see rewrite_launches() for operator<< <T>.
    std::size_t apart = three;
    while (class_of(at(apart)) == CharClass::blank) ++apart;
    if (apart != three && at(apart) == '<' && at(apart + 1) != '<' && at(apart + 1) != '=') {
      result_.has_cuda = true;
      return triple(TokenKind::launch, apart);
    }
    return at(three) == '=' ? triple(TokenKind::other, three) : pair(TokenKind::other);
  }
  if (first == '<') return second == '=' ? pair(TokenKind::other) : single(TokenKind::less);
  if (first == '>') return second == '=' ? pair(TokenKind::other) : single(TokenKind::greater);
  if (first == ':') return second == ':' ? pair(TokenKind::scope) : single(TokenKind::colon);
  if (first == '-' && second == '>') return pair(TokenKind::arrow);
  if (first == '#' && second == '#') return pair(TokenKind::paste);
  if (first == '&' && second == '&') return pair(TokenKind::and_and);
  if (first == '|' && second == '|') return pair(TokenKind::or_or);
  if (first == '.' && second == '.') {
    const std::size_t three = past_splices(two + 1);
    if (at(three) == '.') return triple(TokenKind::ellipsis, three);
  }
  if (second == '=' && std::strchr("+-*/%^&|!=", first) != nullptr && first != '\0')
    return pair(TokenKind::other);
  switch (first) {
    case '.':
      return single(TokenKind::dot);
    case '*':
      return single(TokenKind::star);
    case '&':
      return single(TokenKind::ampersand);
    case '=':
      return single(TokenKind::assign);
    case '!':
      return single(TokenKind::not_sign);
    default:
      return single(TokenKind::other);
  }
}

}  // namespace

Lexed lex(std::string_view source) { return Lexer(source).run(); }

std::size_t splice_length(std::string_view source, std::size_t position) {
  if (position >= source.size() || source[position] != '\\') return 0;
  std::size_t end = position + 1;
  while (end < source.size() && class_of(source[end]) == CharClass::blank) ++end;
  return end < source.size() && source[end] == '\n' ? end + 1 - position : 0;
}

std::string clean_text(std::string_view source, const Token& token) {
  std::string text(source.substr(token.begin, token.end - token.begin));
  if (!token.spliced) return text;
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = splice_length(text, i);
    if (length == 0) clean += text[i];
    i += length != 0 ? length : 1;
  }
  return clean;
}

}  // namespace simt::rewriter
