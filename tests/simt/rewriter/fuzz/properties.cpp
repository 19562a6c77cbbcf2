#include "properties.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "simt/rewriter/edits.hpp"
#include "simt/rewriter/rewriter.hpp"

namespace simt::fuzz {
namespace {

constexpr const char* kName = "fuzz.cu";
constexpr std::string_view kHeader = "#line 1 \"fuzz.cu\"\n";

std::ptrdiff_t lines_in(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

std::optional<std::string> rewrite_or_error(std::string_view text, std::optional<RewriteError>& error) {
  try {
    return rewrite(text, kName);
  } catch (const RewriteError& thrown) {
    error = thrown;
    return std::nullopt;
  }
}

bool has_launch(const rewriter::Lexed& lexed, const std::vector<rewriter::Token>& tokens, std::size_t first,
                std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (tokens[i].kind != rewriter::TokenKind::launch) continue;
    if (i == first || rewriter::clean_text(lexed.source, tokens[i - 1]) != "operator") return true;
  }
  return false;
}

/// The first token behind a macro's name and parameters, where only malformed code has a launch.
std::size_t body_begin(const rewriter::Lexed& lexed, const rewriter::Directive& define) {
  const auto& tokens = lexed.directive_tokens;
  std::size_t i = define.first_token + 1;
  if (i < define.last_token && tokens[i].kind == rewriter::TokenKind::open_paren)
    while (i < define.last_token && tokens[i].kind != rewriter::TokenKind::close_paren) ++i;
  return std::min<std::size_t>(i, define.last_token);
}

/// The lines that an edit adds to those that it replaces: of its own, if it says behind them where the file
/// goes on. Nothing if it does not say so, or says something else.
std::optional<std::ptrdiff_t> lines_added(std::string_view text, const rewriter::Edit& edit) {
  const std::ptrdiff_t before = lines_in(text.substr(edit.begin, edit.end - edit.begin));
  const std::ptrdiff_t after = lines_in(edit.text);
  if (after == before) return 0;
  const std::size_t directive = edit.text.rfind("#line ");
  if (edit.begin != edit.end || directive == std::string::npos) return std::nullopt;
  const bool own_line = edit.text.ends_with('\n');  // else the number is that of the line that follows
  const std::ptrdiff_t line = lines_in(text.substr(0, edit.begin)) + (own_line ? 1 : 2);
  return std::stol(edit.text.substr(directive + 6)) == line ? std::optional(after) : std::nullopt;
}

std::ptrdiff_t lines_added(std::string_view text) {
  std::ptrdiff_t lines = 0;
  for (const rewriter::Edit& edit : rewriter::find_edits(rewriter::lex_live(text, kName), kName))
    lines += lines_added(text, edit).value_or(0);
  return lines;
}

std::string broken_edits(std::string_view text, const std::string& result) {
  const auto edits = rewriter::find_edits(rewriter::lex_live(text, kName), kName);
  std::string expected(kHeader);
  std::size_t position = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (const rewriter::Edit& edit : edits) {
    if (edit.begin < position || edit.end < edit.begin || edit.end > text.size())
      return "edits overlap or leave the file";
    if (!lines_added(text, edit)) return "an edit changes the lines";
    expected += text.substr(position, edit.begin - position);
    expected += edit.text;
    position = edit.end;
  }
  expected += text.substr(position);
  return result == expected ? "" : "text outside of what was rewritten has changed";
}

}  // namespace

std::string broken_property(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());  // its end is guarded by the address sanitizer
  const std::string_view view(exact.data(), exact.size());
  std::optional<RewriteError> error, error_again;
  const auto result = rewrite_or_error(view, error);
  const auto again = rewrite_or_error(view, error_again);
  if (result != again || error.has_value() != error_again.has_value())
    return "a second run gives another result";
  if (error) {
    if (std::string(error->what()) != error_again->what()) return "a second run gives another error";
    if (error->line < 1 || error->line > lines_in(view) + 1) return "the error's line is not in the file";
    if (error->file != kName || error->message.empty()) return "the error lacks a file or a message";
    return "";
  }
  if (!result->starts_with(kHeader)) return "the line directive is missing";
  if (lines_in(*result) != lines_in(view) + 1 + lines_added(view)) return "lines were lost or added";
  if (std::string broken = broken_edits(view, *result); !broken.empty()) return broken;

  const rewriter::Lexed lexed = rewriter::lex_live(*result, kName);
  if (has_launch(lexed, lexed.code, 0, lexed.code.size())) return "a launch is left over";
  for (const rewriter::Directive& directive : lexed.directives) {
    if (directive.kind != rewriter::DirectiveKind::define || !directive.live) continue;
    if (has_launch(lexed, lexed.directive_tokens, body_begin(lexed, directive), directive.last_token))
      return "a launch is left over in a macro";
  }
  return "";
}

std::string broken_translation(const std::string& text, const std::string& expected) {
  try {
    const std::string result = rewrite(text, kName);
    if (result == std::string(kHeader) + expected) return "";
    return "the translation is not what was expected:\n" + result + "\nexpected:\n" + expected;
  } catch (const RewriteError& error) {
    return std::string("correct code is refused: ") + error.what();
  }
}

}  // namespace simt::fuzz
