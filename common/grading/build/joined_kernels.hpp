#pragma once
/// @file
/// Several kernels of one lesson as one file, so that the compiler starts once and reads their headers once.

#include <optional>
#include <string>
#include <vector>

namespace course::grading {

/// A file of code and the name by which messages and debug information call it.
struct NamedCode {
  std::string name, code;
};

/// @brief What may stand in one file with others: comments and includes, then one `namespace course { ... }`
/// without directives of the preprocessor. Two kernels whose `head` is the same can be joined.
struct JoinableKernel {
  std::string head;  ///< the includes, a line each
  std::string body;  ///< what is inside of namespace course
  int body_line = 0;
};

/// @brief Takes a kernel or a contract apart; nothing if it has to be compiled alone.
std::optional<JoinableKernel> take_apart(const std::string& code);

/// @brief One file in which each kernel has a namespace course::kernel_<i> of its own, with the contract and
/// a table of entries, which the function course_entries_<i>() gives. Nothing if the contract, or a kernel,
/// cannot be joined; lines keep the names and numbers of the files that they come from.
/// @param contract  the lesson's header, which the kernels include by its name without a folder
/// @param entries   the contract's functions, without namespace
std::optional<std::string> join_kernels(const NamedCode& contract, const std::vector<std::string>& entries,
                                        const std::vector<NamedCode>& kernels);

}  // namespace course::grading
