#pragma once
/// @file
/// The headers of the simulator's that the compiler reads before a kernel's file.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace course::grading {

/// Their texts by their paths in the simulator's folder.
using OwnHeaders = std::map<std::string, std::string>;

/// @brief Those of `folder`: the preludes, those that the rewriter has included before the first line of the
/// file, and all that these include in any case. A macro of the file's can change none of them, unlike one
/// that is read later, or more than once. Cost: reads each of them.
OwnHeaders headers_before_file(const std::filesystem::path& folder, std::string_view rewritten);

/// @brief The text of a header by its path as a compiler writes it; null unless that is one of `headers` in
/// the simulator's folder, and does not only begin there.
const std::string* find_header(std::string_view path, const OwnHeaders& headers);

}  // namespace course::grading
