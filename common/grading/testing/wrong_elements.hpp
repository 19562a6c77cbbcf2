#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace course::grading {

/// @brief Where the wrong elements lie, as a person would say it: "all of them", "from element 992 on",
/// "every 2nd element, from element 1 on", "row 3", "column 32 and all after it", "everything in columns 0
/// and 5". `wrong`: row-major indices, increasing, not empty.
std::string describe_positions(const Shape& shape, const std::vector<std::int64_t>& wrong);

}  // namespace course::grading
