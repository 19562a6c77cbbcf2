#pragma once

#include <string>

namespace simt::fuzz {

/// @brief Rewrites the text and checks all that must hold for any text: a result or an error with a line of
/// the file, the same each time, no line lost, nothing changed but what the rewriter says it changed, no
/// launch left over.
/// @return What does not hold; nothing if all is well.
std::string broken_property(const std::string& text);

/// @brief Checks that the text is translated to what is expected.
/// @return What is wrong; nothing if all is well.
std::string broken_translation(const std::string& text, const std::string& expected);

}  // namespace simt::fuzz
