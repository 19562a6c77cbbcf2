#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace simt::rewriter {

/// A source as compilers read it: without its byte order mark and its backslash-newlines. In texts and
/// comments as well, so that nothing can be one of them here and something else to the compiler.
struct JoinedLines {
  explicit JoinedLines(std::string_view source);

  std::string text;
  std::vector<std::size_t> places;  ///< where each character of the text stands in the source
};

/// Whether names are made of such a character, to compilers.
bool is_part_of_name(char c);

/// The first position in a joined text from `at` on that is neither a blank, nor in a comment of its line.
std::size_t past_blanks(std::string_view text, std::size_t at);

/// Where a directive may begin: its `#`, or `%:`, and what stands next to it, blanks left out.
struct DirectivePlace {
  std::size_t sign, name;
};

/// @brief Where the directives of a joined text may begin: with nothing before them on their line but blanks
/// and the end of a comment. Some may stand in comments and texts, but none is left out.
std::vector<DirectivePlace> find_directives(std::string_view text);

}  // namespace simt::rewriter
