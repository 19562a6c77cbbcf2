#pragma once

#include <functional>
#include <string_view>

#include "simt/rewriter/rewriter.hpp"
#include "simt/rewriter/sequence.hpp"

namespace simt::rewriter {

/// @brief The file's tokens without the code that is never compiled where `__CUDA_ARCH__` is `architecture`.
/// @throws RewriteError if the file is too large.
Lexed lex_live(std::string_view source, std::string_view file_name, int architecture = kDefaultArchitecture);

/// Whether a function of that name may be declared in a file other than the one that is rewritten.
using DeclaredElsewhere = std::function<bool(std::string_view)>;

/// @brief Everything that rewrite() changes, in order and without overlaps.
/// @param elsewhere Is asked before a call is refused; empty: no function is.
/// @throws RewriteError as rewrite() does.
std::vector<Edit> find_edits(Lexed lexed, std::string_view file_name,
                             const DeclaredElsewhere& elsewhere = {});

/// @brief The source with a `#line` directive in front and the edits, which must be in order, made.
std::string apply_edits(std::string_view source, std::string_view file_name, const std::vector<Edit>& edits);

}  // namespace simt::rewriter
