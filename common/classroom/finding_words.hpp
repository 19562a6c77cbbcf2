#pragma once

#include <string_view>

namespace course::classroom {

/// @brief What a class of findings means, in one sentence for a teacher; empty for any other name, such as
/// that of a lesson's mistake.
std::string_view finding_words(std::string_view name);

}  // namespace course::classroom
