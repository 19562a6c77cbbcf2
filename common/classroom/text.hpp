#pragma once
/// @file
/// Text of unknown origin, made fit for the place that it goes to. Names, file names and messages may hold
/// any bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace course::classroom {

/// One character of a text, or one byte that belongs to none.
struct Utf8Unit {
  char32_t code_point = 0;  ///< U+FFFD if not valid
  std::string_view bytes;   ///< 1 to 4 bytes of the text
  bool valid = false;
};

/// @brief The unit at the begin of `text`, which is not empty. What is not valid comes in the pieces that
/// Unicode recommends to replace by one U+FFFD each.
Utf8Unit first_unit(std::string_view text);

/// @brief The character as UTF-8; 1 to 4 bytes.
std::string to_utf8(char32_t code_point);

/// @brief 0 to 9, whatever the locale.
bool is_digit(char c);

/// @brief 0 to 9, a to z, A to Z, whatever the locale.
bool is_alphanumeric(char c);

/// @brief The text with U+FFFD for every invalid piece. Cost: linear, as for all functions of this file.
std::string valid_utf8(std::string_view text);

/// @brief For HTML, between tags and in quoted attributes. Control characters but line feed and tab become
/// U+FFFD.
std::string html_escape(std::string_view text);

/// @brief For XML 1.0, between tags and in quoted attributes. Characters that XML forbids become U+FFFD,
/// invalid UTF-8 as well. An attribute cannot keep a line feed: give it one_line().
std::string xml_escape(std::string_view text);

/// @brief For a terminal, a heading or a cell: no control characters. They are shown as C++ writes them in a
/// literal, and so are invalid bytes and characters that turn the direction of writing around. A backslash
/// stays as it is.
std::string one_line(std::string_view text);

/// @brief The same, but with its lines: LF and tab stay, CR LF becomes LF.
std::string printable_lines(std::string_view text);

/// @brief The first `limit` characters of valid UTF-8, up to the end of a line if there is one in the last
/// quarter of them, and a sentence on a line of its own that says what was left out. A text that is short
/// enough stays.
std::string cut_text(std::string_view text, std::size_t limit);

/// @brief For one part of a link's path: all but A-Z a-z 0-9 - . _ ~ as %XX, the slash included.
std::string percent_encoded(std::string_view text);

/// @brief A name for the folder of a student's results.
/// Usual names stay as they are, letters of all scripts and spaces included. What could lead out of the
/// folder, hide it, or break a terminal, a link or a copy on another system becomes %XX; so does the first
/// character of what could be a file of the results themselves (grades.csv, index.html, similarity). The name
/// has 1 to 100 bytes; a longer one is cut and ends with ~ and the hash of the whole. Different names give
/// different folders, but for a collision of 64-bit hashes among names that were cut.
std::string safe_folder_name(std::string_view name);

}  // namespace course::classroom
