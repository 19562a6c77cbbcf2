#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simt/rewriter/lexer.hpp"

namespace simt::rewriter {

/// A piece of the source [begin, end) and what stands there instead. Holds as many line breaks as what it
/// replaces.
struct Edit {
  std::uint32_t begin;
  std::uint32_t end;
  std::string text;
};

/// What every pass knows of the file.
struct File {
  std::string_view name;
  Lexed lexed;
  std::vector<std::string> kernels;          // names declared behind __global__, sorted
  std::vector<std::string> macros;           // names of macros, sorted
  std::vector<std::string> function_macros;  // names of function-like macros, sorted
  std::vector<Edit> edits;
};

/// @brief Throws RewriteError with the line at which `offset` lies.
[[noreturn]] void fail(const File& file, std::uint32_t offset, const std::string& message);

/// The index of no token.
constexpr std::uint32_t kNone = 0xffffffff;

/// Tokens that are read as one run of C++: the file's code without its directives, or the body of one macro.
class Sequence {
 public:
  /// The file's code.
  explicit Sequence(File& file);
  /// The body of a `#define`.
  Sequence(File& file, const Directive& define);

  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }
  const Token& operator[](std::uint32_t index) const { return tokens_[index]; }
  File& file() const { return file_; }
  bool is_macro() const { return is_macro_; }
  bool has_parameters() const { return has_parameters_; }

  /// The kind of a token; `other` beyond either end (index -1 wraps to the far end).
  TokenKind kind(std::uint32_t index) const {
    return index < size() ? tokens_[index].kind : TokenKind::other;
  }
  bool is(std::uint32_t index, std::string_view text) const;
  bool is_one_of(std::uint32_t index, std::span<const std::string_view> texts) const;
  std::string text(std::uint32_t index) const { return clean_text(file_.lexed.source, tokens_[index]); }
  bool is_parameter(std::uint32_t index) const;

  /// The bracket that belongs to the one at `index`, or kNone.
  std::uint32_t match(std::uint32_t index) const { return matches_[index]; }
  /// The `<` of the template argument list that the `>` at `index` closes, or kNone.
  std::uint32_t angle_open(std::uint32_t index) const;
  /// The `>` that closes the template argument list opened at `index`, or kNone.
  std::uint32_t angle_close(std::uint32_t index) const;
  /// True if nothing but backslash-newlines lies between the token and the next one.
  bool touches_next(std::uint32_t index) const;

  /// @brief The token as a piece of text that is put together anew.
  /// @throws RewriteError for a literal that is not closed, which would swallow what comes behind it, or that
  /// has several lines, which cannot stand on one.
  std::string piece(std::uint32_t index) const;
  /// The tokens [first, last) on one line, comments left out; only what stood apart stands apart.
  std::string joined(std::uint32_t first, std::uint32_t last) const;

  /// @brief Replaces the tokens [first, last) and the gaps between them; their line breaks follow the text.
  /// @throws RewriteError if a directive lies between them.
  void replace(std::uint32_t first, std::uint32_t last, std::string text);

  /// Puts text in front of a token.
  void insert(std::uint32_t index, std::string text);
  /// Puts text behind a token.
  void append(std::uint32_t index, std::string text);

  /// True if a preprocessor directive stands between the two tokens.
  bool has_directive_between(std::uint32_t first, std::uint32_t last) const;

  [[noreturn]] void fail_at(std::uint32_t index, const std::string& message) const {
    fail(file_, tokens_[index].begin, message);
  }

 private:
  void match_brackets(std::span<const Directive> directives);
  std::string line_breaks(std::uint32_t begin, std::uint32_t end) const;
  /// The first directive in [begin, end) of the source, or null.
  const Directive* directive_in(std::uint32_t begin, std::uint32_t end) const;

  File& file_;
  bool is_macro_ = false;
  bool has_parameters_ = false;  // a function-like macro, in which # makes a string
  std::span<const Token> tokens_;
  std::vector<std::uint32_t> matches_;
  std::vector<std::string> parameters_;
};

/// Words that can stand in front of an expression or a statement and are no part of it.
bool is_statement_word(const Sequence& sequence, std::uint32_t index);

}  // namespace simt::rewriter
