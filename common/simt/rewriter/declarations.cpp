#include "simt/rewriter/declarations.hpp"

#include <algorithm>
#include <array>

namespace simt::rewriter {
bool is_attribute_word(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 7> kAttributes = {
      "__launch_bounds__", "__attribute__",  "alignas",    "__align__",
      "__cluster_dims__",  "__block_size__", "__maxnreg__"};
  return tokens.kind(index + 1) == TokenKind::open_paren && tokens.is_one_of(index, kAttributes);
}

std::uint32_t head_begin(const Sequence& tokens, std::uint32_t brace) {
  std::uint32_t begin = brace;
  while (begin > 0) {
    switch (tokens.kind(begin - 1)) {
      case TokenKind::semicolon:
      case TokenKind::open_paren:
      case TokenKind::open_bracket:
      case TokenKind::open_brace:
      case TokenKind::close_brace:
        return begin;
      case TokenKind::close_paren:
      case TokenKind::close_bracket:
        if (tokens.match(begin - 1) == kNone) return begin;
        begin = tokens.match(begin - 1);
        break;
      default:
        --begin;
    }
  }
  return begin;
}

namespace {

/// True if the word `class` or its like at `key` begins the definition whose `{` is at `brace`, as opposed to
/// the result type of a function.
bool defines_class(const Sequence& tokens, std::uint32_t key, std::uint32_t brace) {
  for (std::uint32_t i = key + 1; i < brace; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::colon) return true;
    if (is_attribute_word(tokens, i) && tokens.match(i + 1) != kNone) {
      i = tokens.match(i + 1);
    } else if (kind == TokenKind::open_bracket && tokens.match(i) != kNone) {
      i = tokens.match(i);
    } else if (kind == TokenKind::less && tokens.angle_close(i) != kNone) {
      i = tokens.angle_close(i);
    } else if (kind != TokenKind::word && kind != TokenKind::scope) {
      return false;
    }
  }
  return true;
}

/// The `{` behind a parameter list that ends at `close`, or kNone.
std::uint32_t body_begin(const Sequence& tokens, std::uint32_t close) {
  bool has_clause = false;     // requires N > 0
  bool in_expression = false;  // requires { ... } within the clause
  for (std::uint32_t i = close + 1; i < tokens.size(); ++i) {
    switch (tokens.kind(i)) {
      case TokenKind::open_brace:
        if (!in_expression) return i;
        in_expression = false;
        [[fallthrough]];
      case TokenKind::open_paren:
      case TokenKind::open_bracket:
        if (tokens.match(i) == kNone) return kNone;
        i = tokens.match(i);
        break;
      case TokenKind::word:
        if (tokens[i].word == Word::global) return kNone;
        if (!tokens.is(i, "requires")) break;
        in_expression = has_clause;
        has_clause = true;
        break;
      case TokenKind::number:
      case TokenKind::scope:
      case TokenKind::less:
      case TokenKind::greater:
      case TokenKind::and_and:
      case TokenKind::or_or:
      case TokenKind::not_sign:
      case TokenKind::arrow:
      case TokenKind::comma:
        break;
      default:
        return kNone;
    }
  }
  return kNone;
}

/// True if the parentheses that end at `close` belong to a macro such as `BOUNDS(256) kernel(int n)`.
bool precedes_name(const Sequence& tokens, std::uint32_t close) {
  static constexpr std::array<std::string_view, 3> kBehindParameters = {"noexcept", "requires", "throw"};
  return tokens.kind(close + 1) == TokenKind::word && tokens.kind(close + 2) == TokenKind::open_paren &&
         !is_attribute_word(tokens, close + 1) && !tokens.is_one_of(close + 1, kBehindParameters);
}

/// Words that are part of a type and never a parameter's name.
bool is_type_word(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 12> kTypes = {"void",   "bool",     "char",  "short",
                                                              "int",    "long",     "float", "double",
                                                              "signed", "unsigned", "auto",  "wchar_t"};
  return tokens.is_one_of(index, kTypes);
}

/// Words that stand beside a type and do not make one.
bool is_qualifier(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 11> kQualifiers = {
      "const",  "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__",
      "struct", "class",    "union",        "enum",       "typename"};
  return tokens.is_one_of(index, kQualifiers);
}

/// True if the tokens [first, last) have a type in them, so that the word behind them is a name.
bool has_type(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  if (first == last) return false;
  const TokenKind before = tokens.kind(last - 1);
  if (before == TokenKind::scope || before == TokenKind::paste) return false;
  for (std::uint32_t i = first; i < last; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::word && !is_qualifier(tokens, i)) return true;
    if (kind == TokenKind::open_bracket && tokens.match(i) != kNone) i = tokens.match(i);  // [[attribute]]
  }
  return false;
}

}  // namespace

bool looks_declared(const Sequence& tokens, std::uint32_t index) {
  if (index == 0) return false;
  const TokenKind before = tokens.kind(index - 1);
  if (before == TokenKind::word) return !is_statement_word(tokens, index - 1);
  const bool reference =
      before == TokenKind::star || before == TokenKind::ampersand || before == TokenKind::and_and;
  if (before != TokenKind::greater && !(reference && index > 1)) return false;
  if (!reference) return true;
  const TokenKind type = tokens.kind(index - 2);
  return type == TokenKind::word || type == TokenKind::greater || type == TokenKind::star;
}

std::uint32_t declared_name(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  while (last > first && tokens.kind(last - 1) == TokenKind::close_bracket) {
    const std::uint32_t open = tokens.match(last - 1);
    if (open == kNone || open < first) return kNone;
    last = open;
  }
  if (last == first) return kNone;
  std::uint32_t name = last - 1;
  const std::uint32_t open = tokens.match(name);
  if (tokens.kind(name) == TokenKind::close_paren && open != kNone && open > first &&
      (tokens.kind(open + 1) == TokenKind::star || tokens.kind(open + 1) == TokenKind::ampersand) &&
      tokens.kind(last) == TokenKind::open_bracket) {
    --name;  // T (*name)[8], T (&name)[8]
    last = open + 1;
  }
  if (tokens.kind(name) != TokenKind::word || is_type_word(tokens, name) || is_qualifier(tokens, name))
    return kNone;
  const std::vector<std::string>& macros = tokens.file().macros;
  if (std::binary_search(macros.begin(), macros.end(), tokens.text(name))) return kNone;
  return has_type(tokens, first, std::min(name, last)) ? name : kNone;
}

std::uint32_t Braces::around(std::uint32_t index) {
  for (; next_ < index; ++next_) {
    if (tokens_.kind(next_) != TokenKind::open_brace || tokens_.match(next_) == kNone) continue;
    while (!open_.empty() && tokens_.match(open_.back()) <= next_) open_.pop_back();
    open_.push_back(next_);
  }
  while (!open_.empty() && tokens_.match(open_.back()) <= index) open_.pop_back();
  return open_.empty() ? kNone : open_.back();
}

bool holds_statements(const Sequence& tokens, std::uint32_t brace) {
  static constexpr std::array<std::string_view, 4> kClassKeys = {"struct", "class", "union", "enum"};
  if (brace > 0 && tokens.kind(brace - 1) == TokenKind::literal) return false;  // extern "C" {
  for (std::uint32_t i = head_begin(tokens, brace); i < brace; ++i) {
    if (tokens.is(i, "namespace")) return false;
    if (tokens.is_one_of(i, kClassKeys)) {
      if (defines_class(tokens, i, brace)) return false;
      continue;
    }
    const TokenKind kind = tokens.kind(i);
    const bool bracket = kind == TokenKind::open_paren || kind == TokenKind::open_bracket;
    if (bracket && tokens.match(i) != kNone) i = tokens.match(i);
    if (kind == TokenKind::less && tokens.is(i - 1, "template") && tokens.angle_close(i) != kNone)
      i = tokens.angle_close(i);
  }
  return true;
}

bool occurs_outside_functions(const Sequence& code, std::string_view word) {
  Braces braces(code);
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    if (code.kind(i) != TokenKind::word || !code.is(i, word)) continue;
    const std::uint32_t brace = braces.around(i);
    if (brace == kNone || !holds_statements(code, brace)) return true;
  }
  return false;
}

KernelDeclaration read_kernel(const Sequence& tokens, std::uint32_t global) {
  KernelDeclaration found;
  for (std::uint32_t i = global + 1; i < tokens.size(); ++i) {
    switch (tokens.kind(i)) {
      case TokenKind::word:
        if (!is_attribute_word(tokens, i)) {
          found.name = i;
        } else if (tokens.match(i + 1) == kNone) {
          return {};
        } else {
          i = tokens.match(i + 1);
        }
        break;
      case TokenKind::open_paren:
        if (tokens.match(i) == kNone) {
          found.open = i;
          return found;
        }
        if (precedes_name(tokens, tokens.match(i))) {
          i = tokens.match(i);
          break;
        }
        found.open = i;
        found.body = body_begin(tokens, tokens.match(i));
        return found;
      case TokenKind::less:
        i = tokens.angle_close(i);
        if (i == kNone) return {};
        break;
      case TokenKind::scope:
      case TokenKind::star:
        break;
      case TokenKind::open_bracket:
        if (tokens.match(i) == kNone) return {};
        i = tokens.match(i);
        break;
      default:
        return {};
    }
  }
  return {};
}

}  // namespace simt::rewriter
