#pragma once
/// @file
/// Functions of the host's libraries, kept from kernels in check mode. They touch memory by themselves, where
/// check mode sees nothing: what a kernel reads through them would be missing in its counters.

#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// @brief The functions of other libraries that the code refers to and that no kernel has, sorted: by the
/// calls, addresses and tables of a compiler's assembly. Cost: one pass.
std::vector<std::string> host_functions(std::string_view assembly);

/// @brief Assembly with a function `__wrap_NAME` for each, to be linked with `--wrap=NAME`: in a kernel it
/// ends the launch with a fault that names the function, and on the host it goes on to NAME with all
/// arguments as they were.
std::string guards_of(const std::vector<std::string>& functions);

}  // namespace course::grading
