#include "simt/rewriter/rewriter.hpp"

#include <algorithm>
#include <limits>

#include "simt/rewriter/architecture.hpp"
#include "simt/rewriter/conditions.hpp"
#include "simt/rewriter/declarations.hpp"
#include "simt/rewriter/edits.hpp"
#include "simt/rewriter/passes.hpp"

namespace simt {
namespace rewriter {
namespace {

bool names_function_macro(const Lexed& file, const Directive& define) {
  if (define.last_token - define.first_token < 2) return false;
  const Token& name = file.directive_tokens[define.first_token];
  const Token& next = file.directive_tokens[define.first_token + 1];
  return next.kind == TokenKind::open_paren && next.begin == name.end;
}

void collect_macros(File& file) {
  for (const Directive& directive : file.lexed.directives) {
    if (directive.kind != DirectiveKind::define || directive.first_token == directive.last_token) continue;
    const std::string name =
        clean_text(file.lexed.source, file.lexed.directive_tokens[directive.first_token]);
    file.macros.push_back(name);
    if (names_function_macro(file.lexed, directive)) file.function_macros.push_back(name);
  }
  std::sort(file.macros.begin(), file.macros.end());
  std::sort(file.function_macros.begin(), file.function_macros.end());
}

void rewrite_macros(File& file, const Sequence& code) {
  const auto concerns = [](const Token& token) {
    return token.kind == TokenKind::launch || token.word != Word::other;
  };
  for (const Directive& directive : file.lexed.directives) {
    if (directive.kind != DirectiveKind::define || !directive.live) continue;
    const auto first = file.lexed.directive_tokens.begin() + directive.first_token;
    const auto last = file.lexed.directive_tokens.begin() + directive.last_token;
    if (std::none_of(first, last, concerns)) continue;
    Sequence body(file, directive);
    rewrite_inline_asm(body);
    const bool shared = std::any_of(first, last, [](const Token& t) { return t.word == Word::shared; });
    rewrite_shared(body, shared && !occurs_outside_functions(code, clean_text(file.lexed.source, *first)));
    describe_kernels(body);
    rewrite_noinline(body);
    rewrite_launches(body);
  }
}

/// Functions for the device, in a header that is C++ otherwise.
bool has_device_code(const File& file) {
  return std::any_of(file.lexed.code.begin(), file.lexed.code.end(), [&](const Token& token) {
    return token.kind == TokenKind::word && clean_text(file.lexed.source, token) == "__device__";
  });
}

void sort_edits(File& file) {
  const auto earlier = [](const Edit& a, const Edit& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  };
  std::stable_sort(file.edits.begin(), file.edits.end(), earlier);
  for (std::size_t i = 1; i < file.edits.size(); ++i) {
    if (file.edits[i].begin < file.edits[i - 1].end)
      fail(file, file.edits[i].begin,
           "A launch or a __shared__ declaration stands inside another one. Give each its own "
           "statement.");
  }
}

}  // namespace

std::vector<Edit> find_edits(Lexed lexed, std::string_view file_name, const DeclaredElsewhere& elsewhere) {
  File file{file_name, std::move(lexed), {}, {}, {}, {}};
  if (!file.lexed.has_cuda && !has_device_code(file) && file.lexed.device_code.empty()) return {};
  collect_macros(file);
  define_architecture(file);
  Sequence code(file);
  name_handed_on(code);
  if (!file.lexed.has_cuda) {
    sort_edits(file);
    return std::move(file.edits);
  }
  collect_kernels(code);
  rewrite_inline_asm(code);
  rewrite_shared(code);
  describe_kernels(code);
  rewrite_noinline(code);
  if (!file.lexed.nested_launches) check_kernels_of_lessons(code);
  rewrite_launches(code);
  uncast_kernels(code);
  check_direct_calls(code);
  check_device_calls(code);
  check_sides(code, elsewhere);
  if (file.lexed.guards_host) guard_host_functions(code, elsewhere);
  rewrite_macros(file, code);
  sort_edits(file);
  return std::move(file.edits);
}

std::string apply_edits(std::string_view source, std::string_view file_name, const std::vector<Edit>& edits) {
  std::string result = "#line 1 \"";
  for (const char c : file_name) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  result += "\"\n";
  result.reserve(result.size() + source.size() + edits.size() * 32);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::size_t position = source.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (const Edit& edit : edits) {
    result += source.substr(position, edit.begin - position);
    result += edit.text;
    position = edit.end;
  }
  result += source.substr(position);
  return result;
}

Lexed lex_live(std::string_view source, std::string_view file_name, int architecture) {
  if (source.size() > std::numeric_limits<std::int32_t>::max())
    throw RewriteError(file_name, 1, "This file is larger than 2 GiB. Split it into several files.");
  Lexed lexed = lex(source);
  lexed.architecture = architecture;
  lexed.device_code = find_device_code(lexed, file_name);
  drop_dead_code(lexed);
  return lexed;
}

}  // namespace rewriter

RewriteError::RewriteError(std::string_view file_name, int line_number, std::string_view text)
    : std::runtime_error(std::string(file_name) + ":" + std::to_string(line_number) + ": " +
                         std::string(text)),
      file(file_name),
      line(line_number),
      message(text) {}

std::string rewrite(std::string_view source, std::string_view file_name, int architecture) {
  const auto edits = rewriter::find_edits(rewriter::lex_live(source, file_name, architecture), file_name);
  return rewriter::apply_edits(source, file_name, edits);
}

}  // namespace simt
