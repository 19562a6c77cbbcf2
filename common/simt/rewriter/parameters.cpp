#include <algorithm>
#include <array>

#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

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

/// The name that the parameter [first, last) declares, or kNone.
std::uint32_t parameter_name(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  while (last > first && tokens.kind(last - 1) == TokenKind::close_bracket) {
    const std::uint32_t open = tokens.match(last - 1);
    if (open == kNone || open < first) return kNone;
    last = open;
  }
  if (last == first) return kNone;
  std::uint32_t name = last - 1;
  const std::uint32_t open = tokens.match(name);
  if (tokens.kind(name) == TokenKind::close_paren && open != kNone && open > first &&
      tokens.kind(open + 1) == TokenKind::star && tokens.kind(last) == TokenKind::open_bracket) {
    --name;  // T (*name)[8]
    last = open + 1;
  }
  if (tokens.kind(name) != TokenKind::word || is_type_word(tokens, name) || is_qualifier(tokens, name))
    return kNone;
  const std::vector<std::string>& macros = tokens.file().macros;
  if (std::binary_search(macros.begin(), macros.end(), tokens.text(name))) return kNone;
  return has_type(tokens, first, std::min(name, last)) ? name : kNone;
}

/// The end of the parameter's declarator: its default argument, or `last`.
std::uint32_t declarator_end(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i < last; ++i) {
    const TokenKind kind = tokens.kind(i);
    if (kind == TokenKind::assign) return i;
    if (kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace)
      if (tokens.match(i) != kNone) i = tokens.match(i);
    if (kind == TokenKind::less && tokens.angle_close(i) != kNone) i = tokens.angle_close(i);
  }
  return last;
}

/// `SIMT_PARAMETER(name)` for each parameter between the parentheses that has a name.
std::string parameter_names(const Sequence& tokens, std::uint32_t open, std::uint32_t close) {
  std::string names;
  std::uint32_t first = open + 1;
  for (std::uint32_t i = first; i <= close; ++i) {
    const TokenKind kind = tokens.kind(i);
    const bool bracket =
        kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace;
    if (bracket && tokens.match(i) != kNone) i = tokens.match(i);
    if (kind == TokenKind::less && tokens.angle_close(i) != kNone && tokens.angle_close(i) < close)
      i = tokens.angle_close(i);
    if (i != close && kind != TokenKind::comma) continue;
    const std::uint32_t name = parameter_name(tokens, first, declarator_end(tokens, first, i));
    first = i + 1;
    if (name == kNone) continue;
    names += (names.empty() ? "SIMT_PARAMETER(" : ", SIMT_PARAMETER(") + tokens.text(name) + ")";
    if (tokens.kind(name - 1) == TokenKind::ellipsis) names += "...";
  }
  return names;
}

}  // namespace

void name_parameters(Sequence& sequence) {
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].word != Word::global) continue;
    const KernelDeclaration kernel = read_kernel(sequence, i);
    if (kernel.body == kNone || sequence.has_directive_between(i, kernel.body)) continue;
    const std::string names = parameter_names(sequence, kernel.open, sequence.match(kernel.open));
    if (!names.empty()) sequence.append(kernel.body, " SIMT_NAME_PARAMETERS(" + names + ");");
  }
}

}  // namespace simt::rewriter
