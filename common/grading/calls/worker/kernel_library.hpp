#pragma once

#include <string>

#include "grading/calls/entry.hpp"

namespace course::grading {

/// @brief Loads a kernel library; static constructors of the student's file run now. It stays loaded.
/// @throws std::runtime_error, in words for a student, if it cannot be loaded.
void* load_kernel_library(const std::string& path);

/// @brief Finds an entry, and makes sure that library and test mean the same function type.
/// @throws std::runtime_error, in words for a student, if there is none such.
const EntryRecord& find_entry(void* library, const std::string& name, const std::string& signature);

}  // namespace course::grading
