#pragma once

#include <string_view>

#include "grading/facts/outcome.hpp"

namespace course::grading {

/// @brief What is being thrown right now, as an outcome with status threw; for use in a catch block. `where`
/// completes "Your code threw ... ": "in vector_add".
Outcome describe_exception(std::string_view where);

}  // namespace course::grading
