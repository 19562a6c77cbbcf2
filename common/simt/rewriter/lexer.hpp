#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simt::rewriter {

enum class TokenKind : std::uint8_t {
  word,
  number,
  literal,  // a string or a character, raw or not, without its prefix unless raw
  open_paren,
  close_paren,
  open_bracket,
  close_bracket,
  open_brace,
  close_brace,
  launch,   // <<<
  less,     // <, never a part of << or <=
  greater,  // one >; three in a row may end a launch or close three template argument lists
  comma,
  semicolon,
  colon,
  question,
  scope,  // ::
  dot,
  arrow,
  star,
  ampersand,
  and_and,
  or_or,
  assign,
  not_sign,
  paste,     // ##
  ellipsis,  // ...
  other,
};

/// The words that make a file need more than a copy; all other words are compared as text when it matters.
enum class Word : std::uint8_t { other, shared, global, noinline, inline_asm };

/// A stretch [begin, end) of the source, in bytes.
struct Token {
  std::uint32_t begin;
  std::uint32_t end;
  TokenKind kind;
  Word word = Word::other;
  bool spliced = false;  // a backslash-newline lies inside
  bool closed = true;    // false for a literal without its closing quote, which ends with its line
};

enum class DirectiveKind : std::uint8_t {
  define,
  include,
  if_,
  ifdef,
  ifndef,
  elif,
  elifdef,
  elifndef,
  else_,
  endif,
  other
};

/// One preprocessor directive, from its '#' to the end of its last line, without the final newline.
struct Directive {
  DirectiveKind kind;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t code_index;   // number of code tokens in front of it
  std::uint32_t first_token;  // its tokens behind the directive's name, in Lexed::directive_tokens
  std::uint32_t last_token;
  bool live = true;  // false where the simulator's compiler cannot get to; see conditions.hpp
};

/// A stretch [begin, end) of the source that is compiled for the device alone, where `__CUDA_ARCH__` is
/// defined.
struct Stretch {
  std::size_t begin, end;
  bool whole_lines;  // from one directive to another; else it is the inside of a function's body
};

/// A source file in tokens. Comments and white space are the gaps between them.
struct Lexed {
  std::string_view source;
  std::vector<Token> code;
  std::vector<Directive> directives;
  std::vector<Token> directive_tokens;  // of #define, #include and the conditionals; others have none
  std::vector<Stretch> device_code;     // that asks for the architecture, in order; see architecture.hpp
  int architecture = 0;                 // what it is told
  bool nested_launches = false;         // kernels may launch kernels
  bool guards_host = false;             // functions of the host end a kernel that calls them
  bool has_cuda = false;                // any launch or any Word but `other`, anywhere
};

/// @brief Splits a file into tokens. Never fails: what is malformed becomes some token and is left to the
/// compiler. Cost: linear in the source.
Lexed lex(std::string_view source);

/// @brief The token's text without backslash-newlines.
std::string clean_text(std::string_view source, const Token& token);

/// @brief The length of a backslash-newline at `position`, else 0. Blanks between the two count, as they do
/// for compilers.
std::size_t splice_length(std::string_view source, std::size_t position);

}  // namespace simt::rewriter
