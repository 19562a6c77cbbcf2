#pragma once
/// @file
/// The pages about classes of findings: one for each class of the registry, simt/classes.hpp.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace course::cli {

struct DiagnosticPage {
  std::string name;     ///< the class as reports print it: "out_of_bounds"
  std::string group;    ///< the heading above it in a list: "Memory"
  std::string meaning;  ///< one sentence
  std::filesystem::path file;
};

/// @brief All pages, in the order of the registry.
std::vector<DiagnosticPage> diagnostic_pages(const std::filesystem::path& project);

/// @brief A class as somebody may write it, as the pages call it: "Bank-Conflict:" is bank_conflict.
std::string diagnostic_name(std::string_view words);

/// @brief The pages whose name this is or, if there is none, whose names begin with it.
std::vector<DiagnosticPage> matching_pages(const std::vector<DiagnosticPage>& pages, std::string_view name);

}  // namespace course::cli
