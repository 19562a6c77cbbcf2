#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

bool is_variable_attribute(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 3> kAttributes = {"alignas", "__align__", "__attribute__"};
  return tokens.kind(index + 1) == TokenKind::open_paren && tokens.is_one_of(index, kAttributes);
}

/// Words that may begin the declaration of a shared variable. The type is not among them: it cannot be told
/// from a macro that stands in front of the declaration.
bool is_leading_word(const Sequence& tokens, std::uint32_t index) {
  static constexpr std::array<std::string_view, 5> kLeading = {"extern", "static", "volatile", "const",
                                                               "__device__"};
  return tokens.is_one_of(index, kLeading) || is_variable_attribute(tokens, index);
}

/// The first token of the declaration in which `__shared__` stands at `shared`.
std::uint32_t declaration_begin(const Sequence& tokens, std::uint32_t shared) {
  std::uint32_t begin = shared;
  std::uint32_t i = shared;
  while (i > 0) {
    const TokenKind kind = tokens.kind(i - 1);
    if (kind == TokenKind::word) {
      if (is_statement_word(tokens, i - 1) || tokens[i - 1].word == Word::shared) break;
      --i;
      if (is_leading_word(tokens, i)) begin = i;
    } else if (kind == TokenKind::close_paren) {
      const std::uint32_t open = tokens.match(i - 1);
      if (open == kNone || open == 0 || !is_variable_attribute(tokens, open - 1)) break;
      i = open;
    } else if (kind == TokenKind::close_bracket) {  // [[attribute]]
      const std::uint32_t open = tokens.match(i - 1);
      if (open == kNone || tokens.kind(open + 1) != TokenKind::open_bracket) break;
      begin = i = open;
    } else if (kind == TokenKind::scope || kind == TokenKind::star) {
      --i;
    } else {
      break;
    }
  }
  return begin;
}

struct Declaration {
  std::uint32_t begin = 0;
  std::uint32_t stop = 0;               // the token that ends the first name: [ ; , = ( { or the end
  std::vector<std::uint32_t> type;      // the tokens of the type, cv-qualifiers included
  std::uint32_t name = kNone;           // the first variable's name
  std::vector<std::uint32_t> storage;   // each `static` and `extern`
  std::vector<std::uint32_t> alignas_;  // each `alignas` after `__shared__`
  std::uint32_t late_alignas = kNone;   // the first after another specifier, where C++ allows none
  bool is_extern = false;
  bool has_body = false;  // of a struct that is defined right here
};

bool ends_with_qualifier(const Sequence& tokens, const std::vector<std::uint32_t>& type) {
  static constexpr std::array<std::string_view, 2> kQualifiers = {"const", "volatile"};
  return !type.empty() && tokens.is_one_of(type.back(), kQualifiers);
}

/// Reads specifiers, type and first name. The name is the last word in front of what cannot belong to a type.
Declaration read_declaration(const Sequence& tokens, std::uint32_t shared) {
  Declaration found;
  found.begin = declaration_begin(tokens, shared);
  std::uint32_t i = found.begin;
  for (; i < tokens.size(); ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::word) {
      if (is_variable_attribute(tokens, i) && tokens.match(i + 1) != kNone) {
        if (tokens.is(i, "alignas")) {
          const bool first = found.storage.empty() && !ends_with_qualifier(tokens, found.type);
          if (!first && found.late_alignas == kNone) found.late_alignas = i;
          if (i > shared) found.alignas_.push_back(i);
        }
        i = tokens.match(i + 1);
      } else if (tokens.is(i, "extern") || tokens.is(i, "static")) {
        found.is_extern |= tokens.is(i, "extern");
        found.storage.push_back(i);
      } else if (tokens[i].word != Word::shared && !tokens.is(i, "__device__")) {
        found.type.push_back(i);
        const bool is_decltype =
            tokens.is(i, "decltype") || tokens.is(i, "typeof") || tokens.is(i, "__typeof__");
        if (is_decltype && tokens.kind(i + 1) == TokenKind::open_paren && tokens.match(i + 1) != kNone)
          for (const std::uint32_t close = tokens.match(i + 1); i < close;) found.type.push_back(++i);
      }
    } else if (kind == TokenKind::less && tokens.angle_close(i) != kNone) {
      for (const std::uint32_t close = tokens.angle_close(i); i < close; ++i) found.type.push_back(i);
      found.type.push_back(i);
    } else if (kind == TokenKind::open_bracket && tokens.kind(i + 1) == TokenKind::open_bracket &&
               tokens.match(i) != kNone) {
      i = tokens.match(i);
    } else if (kind == TokenKind::open_brace && !found.has_body && !found.type.empty() &&
               tokens.match(i) != kNone) {
      static constexpr std::array<std::string_view, 3> kClassKeys = {"struct", "union", "class"};
      const bool is_class = std::any_of(found.type.begin(), found.type.end(), [&](std::uint32_t token) {
        return tokens.is_one_of(token, kClassKeys);
      });
      if (!is_class) break;
      found.has_body = true;
      i = tokens.match(i);
    } else if (kind == TokenKind::scope || kind == TokenKind::star || kind == TokenKind::ampersand ||
               kind == TokenKind::paste || kind == TokenKind::number ||
               (kind == TokenKind::colon && !found.has_body)) {
      found.type.push_back(i);
    } else {
      break;
    }
  }
  found.stop = i;
  if (!found.type.empty() && tokens.kind(found.type.back()) == TokenKind::word) {
    found.name = found.type.back();
    found.type.pop_back();
    while (found.type.size() >= 2 && tokens.kind(found.type.back()) == TokenKind::paste)
      found.type.resize(found.type.size() - 2);  // the name's first pieces
  }
  return found;
}

/// The name that begins at `name`, in a macro perhaps in pieces that are pasted together.
std::string spelled_name(const Sequence& tokens, std::uint32_t name) {
  std::uint32_t first = name;
  std::uint32_t last = name;
  while (first > 1 && tokens.kind(first - 1) == TokenKind::paste) first -= 2;
  while (tokens.kind(last + 1) == TokenKind::paste && last + 2 < tokens.size()) last += 2;
  return tokens.joined(first, last + 1);
}

std::string type_text(const Sequence& tokens, const std::vector<std::uint32_t>& type) {
  std::string text;
  for (std::size_t i = 0; i < type.size(); ++i) {
    text += tokens.piece(type[i]);
    const bool adjacent = i + 1 < type.size() && type[i + 1] == type[i] + 1 && tokens.touches_next(type[i]);
    if (i + 1 < type.size() && !adjacent) text += ' ';
  }
  return text;
}

std::string naming(const std::string& variable) { return " SIMT_NAME_SHARED(" + variable + ")"; }

/// Translates `extern __shared__ T a[], b[][8]`. All of them begin where the block's dynamic shared memory
/// begins.
/// @return Their names.
std::vector<std::string> rewrite_dynamic(Sequence& tokens, const Declaration& declaration, bool in_function) {
  const auto unsupported = [&](const char* why) {
    tokens.fail_at(declaration.begin, std::string(why) + " Write it as: extern __shared__ float name[];");
  };
  if (declaration.has_body)
    unsupported("Define the struct first, then declare dynamic shared memory of that type.");
  if (declaration.type.empty()) unsupported("This dynamic shared memory has no type.");
  const std::string type = type_text(tokens, declaration.type);
  std::string text = (in_function ? "SIMT_DYNAMIC_SHARED " : "static thread_local ") + type;
  std::string names;
  std::vector<std::string> arrays;
  std::uint32_t name = declaration.name;
  std::uint32_t i = declaration.stop;
  while (true) {
    std::string row;  // the further dimensions of name[][8]
    if (tokens.kind(i) != TokenKind::open_bracket || tokens.match(i) != i + 1)
      unsupported(
          "Each array of dynamic shared memory needs empty brackets '[]', and each pointer type its own "
          "line.");
    for (i += 2; tokens.kind(i) == TokenKind::open_bracket && tokens.match(i) != kNone;
         i = tokens.match(i) + 1)
      row += tokens.joined(i, tokens.match(i) + 1);
    while (is_variable_attribute(tokens, i) && tokens.match(i + 1) != kNone) i = tokens.match(i + 1) + 1;
    const bool first = name == declaration.name;
    arrays.push_back(spelled_name(tokens, name));
    names += (names.empty() ? "" : ";") + naming(arrays.back());
    if (row.empty()) {
      text += (first ? "* const " : "*const ") + spelled_name(tokens, name);
    } else {
      text += (first ? " (*const " : "(*const ") + spelled_name(tokens, name);
      text += ")" + row;
    }
    if (!in_function && !tokens.is_macro()) text += " SIMT_DYNAMIC_LABEL";
    text += " = ::simt::dynamic_shared<";
    text += type + row;
    text += ">()";
    if (tokens.kind(i) != TokenKind::comma) break;
    text += ", ";
    name = i + 1;
    i += 2;
    if (tokens.kind(name) != TokenKind::word || type.find('*') != std::string::npos)
      unsupported(
          "Each array of dynamic shared memory needs empty brackets '[]', and each pointer type its own "
          "line.");
  }
  const bool ends = tokens.kind(i) == TokenKind::semicolon || (tokens.is_macro() && i >= tokens.size());
  if (!ends && tokens.kind(i) == TokenKind::assign)
    tokens.fail_at(i,
                   "Dynamic shared memory cannot be given a value where it is declared. Assign to it in the "
                   "kernel, then "
                   "call __syncthreads().");
  if (!ends)
    unsupported("This declaration of dynamic shared memory does not end after its name; is a ';' missing?");
  if (in_function && i >= tokens.size()) text += ";" + names;  // whoever uses the macro ends it
  if (in_function && i < tokens.size()) tokens.append(i, names + ";");
  tokens.replace(declaration.begin, i, text);
  return arrays;
}

[[noreturn]] void fail_initialised(const Sequence& tokens, std::uint32_t at, std::uint32_t name) {
  const std::string variable = tokens.text(name);
  tokens.fail_at(
      at, "The __shared__ variable '" + variable +
              "' cannot be given a value where it is declared: one copy serves the whole block. Declare it "
              "without a value, let one thread assign to it, then call __syncthreads().");
}

/// Reports `= value`, `{value}` and `(value)` behind the names of a declaration.
void check_initialisers(const Sequence& tokens, const Declaration& declaration) {
  std::uint32_t name = declaration.name;
  for (std::uint32_t i = declaration.stop; i < tokens.size(); ++i) {
    switch (tokens.kind(i)) {
      case TokenKind::assign:
      case TokenKind::open_brace:
        fail_initialised(tokens, i, name);
      case TokenKind::open_paren: {
        const std::uint32_t close = tokens.match(i);
        if (close == kNone) return;
        const bool ends =
            tokens.kind(close + 1) == TokenKind::semicolon || tokens.kind(close + 1) == TokenKind::comma;
        const TokenKind first = tokens.kind(i + 1);
        const bool declarator = first == TokenKind::star || first == TokenKind::ampersand || i != name + 1;
        const auto& macros = tokens.file().function_macros;
        const bool macro = std::binary_search(macros.begin(), macros.end(), tokens.text(name));
        if (ends && !declarator && !macro && !declaration.type.empty()) fail_initialised(tokens, i, name);
        i = close;
        break;
      }
      case TokenKind::open_bracket:
        if (tokens.match(i) == kNone) return;
        i = tokens.match(i);
        break;
      case TokenKind::comma:
      case TokenKind::star:
        break;
      case TokenKind::word:
        if (is_variable_attribute(tokens, i)) {
          if (tokens.match(i + 1) == kNone) return;
          i = tokens.match(i + 1);
        } else {
          name = i;
        }
        break;
      default:
        return;
    }
  }
}

/// Names the variables of a declaration that stays a declaration of arrays and objects: `T a[4][5], b`. What
/// is not of that form gets no name.
void name_variables(Sequence& tokens, const Declaration& declaration) {
  std::string names;
  std::uint32_t first = declaration.name;
  bool plain = true;  // the declarator so far is a name, perhaps with dimensions
  std::uint32_t i = first + 1;
  for (;; ++i) {
    const TokenKind kind = tokens.kind(i);
    const bool ends = i >= tokens.size() || kind == TokenKind::semicolon;
    if (ends || kind == TokenKind::comma) {
      if (plain) names += (names.empty() ? "" : ";") + naming(spelled_name(tokens, first));
      if (ends) break;
      while (tokens.kind(i + 1) == TokenKind::star) ++i;
      first = ++i;
      plain = tokens.kind(first) == TokenKind::word;
      if (!plain) --i;
    } else if (kind == TokenKind::open_bracket || kind == TokenKind::open_paren) {
      if (tokens.match(i) == kNone) return;
      plain &= kind == TokenKind::open_bracket;
      i = tokens.match(i);
    } else if (is_variable_attribute(tokens, i) && tokens.match(i + 1) != kNone) {
      i = tokens.match(i + 1);
    } else if (kind == TokenKind::paste && tokens.kind(i + 1) == TokenKind::word) {
      ++i;
    } else {
      return;
    }
  }
  if (names.empty()) return;
  // A macro that ends here may be followed by more of the declaration: DECLARE(tile)[32];
  if (i >= tokens.size() && !(tokens.is_macro() && tokens.kind(i - 1) == TokenKind::close_bracket)) return;
  if (tokens.has_directive_between(declaration.begin, std::min(i, tokens.size() - 1))) return;
  if (i >= tokens.size()) {
    tokens.append(i - 1, ";" + names);  // whoever uses the macro ends it
  } else {
    tokens.append(i, names + ";");
  }
}

/// `body`: the `{` of the function or block that holds the declaration, if it stands in one.
void rewrite_declaration(Sequence& tokens, const Declaration& declaration, bool in_function,
                         std::uint32_t body) {
  if (declaration.name == kNone) return;  // the word alone, as in `#define SHARED __shared__`
  if (declaration.late_alignas != kNone)
    tokens.fail_at(
        declaration.late_alignas,
        "alignas(...) must come first in a declaration, before extern, static, const and the type. "
        "Move it there, or write __align__(...), which may stand here.");
  const bool array = tokens.kind(declaration.stop) == TokenKind::open_bracket;
  const bool sized = array && tokens.match(declaration.stop) != declaration.stop + 1;
  if (declaration.is_extern && array && !sized) {
    std::vector<std::string> arrays = rewrite_dynamic(tokens, declaration, in_function);
    if (in_function && body != kNone && !tokens.is_macro())
      name_views(tokens, std::move(arrays), declaration.stop, tokens.match(body));
    return;
  }
  check_initialisers(tokens, declaration);
  // As for nvcc, `extern` means nothing beside a shared variable of known size.
  for (const std::uint32_t word : declaration.storage) tokens.replace(word, word + 1, "");
  for (const std::uint32_t word : declaration.alignas_) {
    const std::uint32_t end = tokens.match(word + 1) + 1;
    tokens.insert(declaration.begin, tokens.joined(word, end) + " ");
    tokens.replace(word, end, "");
  }
  if (in_function && !declaration.type.empty()) name_variables(tokens, declaration);
}

}  // namespace

void rewrite_shared(Sequence& sequence, bool in_function) {
  Braces braces(sequence);
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].word != Word::shared) continue;
    const Declaration declaration = read_declaration(sequence, i);
    const std::uint32_t brace = braces.around(i);
    rewrite_declaration(sequence, declaration,
                        brace == kNone ? in_function : holds_statements(sequence, brace), brace);
    i = declaration.stop - 1;
  }
}

void rewrite_noinline(Sequence& sequence) {
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].word != Word::noinline) continue;
    const TokenKind before = i == 0 ? TokenKind::other : sequence.kind(i - 1);
    const bool inside_attribute =
        before == TokenKind::open_paren || before == TokenKind::comma || before == TokenKind::scope;
    if (!inside_attribute) sequence.replace(i, i + 1, "__attribute__((noinline))");
  }
}

}  // namespace simt::rewriter
