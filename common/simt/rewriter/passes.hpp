#pragma once

#include "simt/rewriter/edits.hpp"
#include "simt/rewriter/sequence.hpp"

namespace simt::rewriter {

/// @brief Turns each `kernel<<<...>>>(...)` of the sequence into a call of simt::launch.
/// @throws RewriteError for a launch that is not complete.
void rewrite_launches(Sequence& sequence);

/// @brief Takes the cast to `void*` off a kernel that is handed to cudaLaunchKernel() or its like, or becomes
/// the `func` of a graph's node: its type says how large its arguments are.
void uncast_kernels(Sequence& sequence);

/// @brief Turns `extern __shared__ T name[]` into a pointer, and puts the words around other `__shared__` in
/// order. What a function declares is named behind its declaration; see simt_names.h.
/// @param in_function Whether what stands outside of all braces belongs to a function; for macros.
/// @throws RewriteError for a `__shared__` variable that is given a value.
void rewrite_shared(Sequence& sequence, bool in_function = false);

/// @brief Names what a function makes of its dynamic shared memory between the tokens `first` and `last`:
/// pointers and references into it, and the members of objects that lie there. See simt_names.h.
/// @param memory The names of the arrays that the function declares as dynamic shared memory.
void name_views(Sequence& sequence, std::vector<std::string> memory, std::uint32_t first, std::uint32_t last);

/// @brief Names the members of an object that a function makes of a parameter `void* memory`: that may be a
/// kernel's dynamic shared memory.
void name_handed_on(Sequence& sequence);

/// @brief Names the parameters of each kernel that is defined here at the start of its body, and notes there
/// its launch bounds; see simt_names.h.
void describe_kernels(Sequence& sequence);

/// @brief Spells `__noinline__` as the attribute it is. No macro can: it would change
/// `__attribute__((__noinline__))`, too.
void rewrite_noinline(Sequence& sequence);

/// @brief Notes the functions that the file declares behind `__global__` in File::kernels.
void collect_kernels(Sequence& sequence);

/// @brief Turns inline PTX into calls of the simulator; see simt_ptx.h. Assembly in a function that nothing
/// declares to be for the device is the host's and stays.
/// @throws RewriteError for PTX that cannot be, as far as it is written out.
void rewrite_inline_asm(Sequence& sequence);

/// @throws RewriteError for the first function of namespace std that a function for the device alone calls
/// and that nvcc refuses there, since it is for the host: std::max, std::numeric_limits<T>::max() ...
void check_device_calls(const Sequence& sequence);

/// @throws RewriteError for the first call, by a function for the device alone, of a function that the file
/// defines without __device__, and for the first launch of one that it defines without __global__: nvcc
/// refuses both. Functions that are constexpr, whose head holds a macro, or that another file may overload,
/// are left alone.
void check_sides(const Sequence& sequence, const DeclaredElsewhere& elsewhere);

/// @brief Lets functions that the file defines without __device__, and lambdas in them, end a kernel that
/// calls them by their address, through a table of virtual functions or as an object: on a GPU, they are not
/// there. Left alone are functions as in check_sides(), operators, and what a class defines outside of it.
void guard_host_functions(Sequence& sequence, const DeclaredElsewhere& elsewhere);

/// @throws RewriteError for the first launch within a function for the device alone, and for the first
/// exception or question for a type there: programs may have the former, and are told of the latter as they
/// run.
void check_kernels_of_lessons(const Sequence& sequence);

/// @throws RewriteError for the first statement that calls one of File::kernels without a launch. See
/// rewrite() for the rule.
void check_direct_calls(const Sequence& sequence);

}  // namespace simt::rewriter
