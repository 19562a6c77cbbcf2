#pragma once
/// @file
/// The headers of the simulator's that the compiler reads before a kernel's file.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace course::grading {

/// @brief Their paths in `folder`: of the preludes, of those that the rewriter has included before the first
/// line of the file, and of all that these include in any case. A macro of the file's can change none of
/// them, unlike one that is read later, or more than once. Cost: reads each of them.
std::set<std::string> headers_before_file(const std::filesystem::path& folder, std::string_view rewritten);

/// @brief Whether a path, as a compiler writes it, is one of `headers` in the simulator's folder, and does
/// not only begin there.
bool is_one_of_headers(std::string_view path, const std::set<std::string>& headers);

}  // namespace course::grading
