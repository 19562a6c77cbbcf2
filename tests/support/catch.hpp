#pragma once

// Catch2 2.13 (Debian 12) and 3.x (elsewhere) under one name: where a name moved, 3.x's works with both.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

using Catch::Approx;  // as in 2.13
#else
#include <catch2/catch.hpp>

#include <string>

namespace Catch {

using Detail::Approx;

namespace Matchers {

/// 2.13 calls it Contains, which in 3.x is a matcher of ranges.
inline auto ContainsSubstring(const std::string& part, CaseSensitive::Choice choice = CaseSensitive::Yes) {
  return Contains(part, choice);
}

}  // namespace Matchers
}  // namespace Catch
#endif
