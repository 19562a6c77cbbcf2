#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace simt::rewriter {

/// Whether a header of that name is CUDA's, as the simulator has it, or lies beside the file.
using IsKnownHeader = std::function<bool(const std::string& name, bool in_quotes)>;

/// @brief Refuses what a lesson's file is not written with: it is CUDA C++ and the C++ library, and nothing
/// that only the compiler for the simulator knows, by which a file could get out of check mode's sight.
///
/// All of it is a list of what is allowed:
///   - names that begin with `__`, or with `_` and a capital letter: CUDA's, and what compilers define
///     beforehand, such as `__FILE__`.
///   - `##` in macros: behind a comma, or to make names that begin with no underscore.
///   - directives; pragmas: `unroll`, and those about warnings.
///   - headers: CUDA's, the course's, and those of the C++ library that only compute or print.
///   - attributes in brackets: those of the standard.
/// A few words of C++ itself are for no kernel and its launch, such as `thread_local`, and refused as well.
/// What stands in comments, in texts and in code that is switched off is not looked at.
///
/// @throws RewriteError that names the first of them.
/// Cost: two passes over the text.
void check_vocabulary(std::string_view source, std::string_view file_name, const IsKnownHeader& is_known);

/// @brief Refuses a file whose macros make names of the simulator's, of parts that are none or in place of
/// those that the rewriter has written.
/// @param preprocessed What g++ -E makes of the rewritten file.
/// @param own_headers The folder of CUDA's headers, whose lines are not looked at.
/// @throws RewriteError that names the first of them.
void check_names_after_macros(std::string_view preprocessed, std::string_view own_headers);

}  // namespace simt::rewriter
