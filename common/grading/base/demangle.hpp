#pragma once

#include <string>

namespace course::grading {

/// @brief "std::invalid_argument" of typeid(std::invalid_argument).name(); the name itself if it is not
/// mangled.
std::string demangle(const char* name);

}  // namespace course::grading
