#pragma once

#include <string>
#include <string_view>

namespace simt::rewriter {

/// @brief What a program with that `#include` needs and the simulator does not have, in one sentence; empty
/// for any other header.
/// @param header  as it stands between the quotes or angle brackets
std::string refusal_of_header(std::string_view header);

}  // namespace simt::rewriter
