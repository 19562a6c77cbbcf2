#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace simt {

/// @brief Says, in words for a first-week student, why a CUDA file cannot be translated and what to do about
/// it. what() reads "vector_add.cu:12: <message>".
class RewriteError : public std::runtime_error {
 public:
  RewriteError(std::string_view file_name, int line_number, std::string_view text);

  std::string file;     ///< As it was given to rewrite().
  int line;             ///< 1-based, inside the file.
  std::string message;  ///< Without the place.
};

/// `__CUDA_ARCH__` in device code: 100 times the compute capability, as in 900 for 9.0.
inline constexpr int kDefaultArchitecture = 900;

/// @brief Translates CUDA C++ into C++ that a host compiler accepts, given the simulator's headers.
///
/// What no host compiler accepts is translated; every other byte stays as it was:
///   - `k<T><<<g, b, s, st>>>(x)` becomes `::simt::launch("k<T>", ::simt::LaunchConfig(g, b, s, st), ...)(x)`
///     with two lambdas: one says which kernel that is, where the name alone tells; one calls it. An argument
///     that is just `NULL` becomes `nullptr`, a literal 0 and values in braces become objects that convert to
///     the parameter's type.
///   - `extern __shared__ T s[];` becomes `static thread_local T* const s SIMT_DYNAMIC_LABEL =
///     ::simt::dynamic_shared<T>();`, or in a function `SIMT_DYNAMIC_SHARED T* const s =
///     ::simt::dynamic_shared<T>();`.
///   - `static` and `extern` beside any other `__shared__` go, since that word stands for `static
///     thread_local` here, and an `alignas` behind it moves to the front, the one place where standard C++
///     has it.
///   - `__noinline__` becomes the attribute.
///   - Names for reports: ` SIMT_NAME_SHARED(s);` is added behind each `__shared__` declaration in a
///   function,
///     ` SIMT_NAME_VIEW(p);` or ` SIMT_NAME_MEMBER(p, ->, member);` behind the declaration of a pointer or a
///     reference into dynamic shared memory, and ` SIMT_NAME_PARAMETERS(SIMT_PARAMETER(a),
///     SIMT_PARAMETER(b));` behind the `{` of a kernel's definition. Declarators in unusual forms stay
///     without a name. See simt_names.h.
/// Macro definitions are translated as well. The result starts with a `#line` directive, and every line keeps
/// its number. A byte order mark at the start is dropped.
///
/// Code that the simulator's compiler will not see stays untouched and is not judged: each group of an `#if`
/// whose condition is false for sure when all that is known is `__CUDA_ARCH__` and that `__SIMT__` is 1. In
/// code for the device alone (see architecture.hpp) that macro is `architecture`, and elsewhere it is not
/// defined: for the host, `#ifdef __CUDA_ARCH__`, `#if __CUDA_ARCH__ >= 800`, `#if 0` and the `#else` of
/// `#ifndef
/// __CUDA_ARCH__` are left out. A condition on anything else counts as code that is compiled.
///
/// A `__global__` function counts as called without a launch only where there is no doubt: its name, declared
/// in this file as nothing else, starts a statement of the form `k(...);` or `k<...>(...);`.
///
/// @param source    The file's text; below 2 GiB.
/// @param file_name Stands in the `#line` directive and in errors.
/// @throws RewriteError for inline PTX, an incomplete launch, a `__shared__` variable with an initialiser, a
///         kernel called without a launch, a kernel that launches one (unless RewriteJob lets it), a kernel
///         whose result is a number, a call of std::max() or its like in a function for the device alone.
/// Cost: one pass over the text.
std::string rewrite(std::string_view source, std::string_view file_name,
                    int architecture = kDefaultArchitecture);

}  // namespace simt
