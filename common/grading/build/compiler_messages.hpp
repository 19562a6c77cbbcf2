#pragma once
/// @file
/// What a compiler says about a kernel, in the form in which its author wants to read it.

#include <filesystem>
#include <string>
#include <string_view>

#include "grading/project/lesson.hpp"

namespace course::grading {

/// @brief Shortens the output of g++, clang, nvcc or the linker to what the author of `source` can act on:
/// the first few errors, those in the author's own file first, each with its line; errors inside a template
/// are reported where the author's file uses it; functions of the contract that the linker misses are named
/// as the contract declares them.
/// @param source  the author's file as it was named to the compiler
std::string explain_compiler_output(std::string_view output, const Lesson& lesson,
                                    const std::filesystem::path& source);

}  // namespace course::grading
