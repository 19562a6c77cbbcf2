#pragma once
/// @file
/// What the compiler made of a kernel, held against what it makes of CUDA C++. By effect and not by spelling:
/// a macro may hide a word, but not what becomes of it.
/// Each function is in the file of its subject: effects_assembly.cpp, effects_names.cpp, effects_calls.cpp
/// and effects_accesses.cpp.

#include <string>
#include <string_view>

#include "grading/build/compiler_text.hpp"
#include "grading/build/own_headers.hpp"

namespace course::grading {

/// @brief "" or a sentence for the student, if code was written by hand into what goes to the assembler: an
/// `asm` statement, a directive in a section's or a symbol's name, bytes among the instructions. Cost: one
/// pass.
std::string foreign_assembly(std::string_view assembly);

/// @brief "" or a sentence for the student, if the file puts something into a section of its own, or gives a
/// symbol a name with lines or blanks: so lines of the student's own come into the assembly. Cost: one pass.
std::string foreign_names(std::string_view table);

/// @brief The table of symbols in what g++ writes with -fdump-ipa-visibility; empty if there is none. (With
/// -fdump-ipa-cgraph it writes nothing behind a precompiled header.)
std::string_view table_of_symbols(std::string_view dump);

/// @brief "" or a sentence for the student, if assembly or an object file names a function past what the
/// linker puts in its place: with --wrap=f, `__real_f` is f itself, which check mode and the ledger of a GPU
/// do not see. Cost: one pass.
std::string names_past_wrappers(std::string_view code);

/// @brief "" or a sentence for the student, if code calls a function of the simulator's own, or takes its
/// address, elsewhere than in these headers of the simulator's: by the lines that check mode's assembly
/// tells, which holds inside macros, templates and functions under other names. A header's line must name
/// what it calls: another one may call what the file hands to it. See headers_before_file(). Cost: one pass.
std::string calls_of_the_simulator(std::string_view assembly, const OwnHeaders& headers);

/// @brief "" or a sentence for the student, if a function has no hooks of check mode, or touches memory by a
/// builtin of the compiler, of which check mode sees nothing. `source` is the student's file as the compiler
/// names it. Cost: one pass.
std::string unseen_accesses(const CompilerDumps& dumps, std::string_view source);

}  // namespace course::grading
