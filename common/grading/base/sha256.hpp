#pragma once
/// @file
/// SHA-256: a page names the scripts that it allows by it, a case's seed is one, and what students hand in is
/// known by it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace course::grading {

/// @brief The digest of a text's bytes. Cost: some 10 ns a byte; the text is copied once.
/// Source: FIPS 180-4, section 6.2.
std::array<std::uint8_t, 32> sha256(std::string_view text);

/// @brief The digest in 64 hexadecimal digits.
std::string sha256_hex(std::string_view text);

/// @brief The digest in base64, 44 characters, as Content-Security-Policy takes it behind "sha256-".
std::string sha256_base64(std::string_view text);

}  // namespace course::grading
