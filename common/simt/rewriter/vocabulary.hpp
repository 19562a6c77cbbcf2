#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace simt::rewriter {

/// Whether the simulator has a header of CUDA's of that name.
using IsOwnHeader = std::function<bool(const std::string& name)>;

/// @brief Refuses what a lesson's file is not written with: it is CUDA C++ and the C++ library, and nothing
/// that only the compiler for the simulator knows, by which a file could get out of check mode's sight.
///
/// All of it is a list of what is allowed:
///   - names that begin with `__`, or with `_` and a capital letter: CUDA's, and what the standard defines
///     beforehand, such as `__FILE__`. By their characters, in comments and texts as well.
///   - `##` in macros: behind a comma, or behind the beginning of a name that becomes no other one.
///   - directives; pragmas: `unroll`, and those about warnings.
///   - headers: CUDA's, the course's, and those of the C++ library that only compute.
///   - attributes in brackets: those of the standard.
/// A few words of C++ itself are for no kernel and its launch, such as `thread_local`, and refused as well.
///
/// @throws RewriteError that names the first of them.
/// Cost: two passes over the text.
void check_vocabulary(std::string_view source, std::string_view file_name, const IsOwnHeader& is_own_header);

}  // namespace simt::rewriter
