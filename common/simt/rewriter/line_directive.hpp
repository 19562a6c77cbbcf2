#pragma once

#include <cstddef>
#include <string_view>

namespace simt::rewriter {

/// @brief Where a source first says that what follows are lines of another file: the `#` of `#line 7 "a.h"`,
/// or of `# 7 "a.h"`, in all spellings that compilers take. npos: nowhere.
///
/// By its characters, in comments and texts as well: so nothing can be a text here and a directive to the
/// compiler.
std::size_t find_line_directive(std::string_view source);

}  // namespace simt::rewriter
