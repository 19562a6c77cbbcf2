#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt::rewriter {
namespace {

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
    const std::uint32_t name = declared_name(tokens, first, declarator_end(tokens, first, i));
    first = i + 1;
    if (name == kNone) continue;
    names += (names.empty() ? "SIMT_PARAMETER(" : ", SIMT_PARAMETER(") + tokens.text(name) + ")";
    if (tokens.kind(name - 1) == TokenKind::ellipsis) names += "...";
  }
  return names;
}

/// The first value of the `__launch_bounds__` between the tokens `first` and `last`; empty if there is none.
std::string most_threads(const Sequence& tokens, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t i = first; i < last; ++i) {
    if (!tokens.is(i, "__launch_bounds__") || tokens.kind(i + 1) != TokenKind::open_paren) continue;
    const std::uint32_t open = i + 1, close = tokens.match(open);
    if (close == kNone) return "";
    std::uint32_t end = open + 1;
    for (; end < close && tokens.kind(end) != TokenKind::comma; ++end) {
      const TokenKind kind = tokens.kind(end);
      const bool bracket =
          kind == TokenKind::open_paren || kind == TokenKind::open_bracket || kind == TokenKind::open_brace;
      if (bracket && tokens.match(end) != kNone) end = tokens.match(end);
      // In Shape<4, 64>::kThreads; what looks like a comparison has no comma of its own.
      const bool list =
          kind == TokenKind::less && tokens.angle_close(end) != kNone && tokens.angle_close(end) < close;
      if (list) end = tokens.angle_close(end);
    }
    return tokens.joined(open + 1, end);
  }
  return "";
}

}  // namespace

void describe_kernels(Sequence& sequence) {
  for (std::uint32_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].word != Word::global) continue;
    const KernelDeclaration kernel = read_kernel(sequence, i);
    if (kernel.body == kNone || sequence.has_directive_between(i, kernel.body)) continue;
    const std::string names = parameter_names(sequence, kernel.open, sequence.match(kernel.open));
    if (!names.empty()) sequence.append(kernel.body, " SIMT_NAME_PARAMETERS(" + names + ");");
    const std::uint32_t head = sequence.is_macro() ? 0 : head_begin(sequence, kernel.body);
    const std::string threads = most_threads(sequence, head, kernel.body);
    if (!threads.empty()) sequence.append(kernel.body, " SIMT_LAUNCH_BOUNDS((" + threads + "));");
  }
}

}  // namespace simt::rewriter
