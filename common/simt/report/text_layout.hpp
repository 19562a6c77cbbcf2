#pragma once
/// @file
/// Numbers, columns and wrapped prose: what the reports share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace simt::report {

/// @brief Columns that UTF-8 text takes; every code point counts one.
std::size_t columns_of(std::string_view text);

/// @brief The text, cut to that many columns; what is cut shows as "...".
std::string fit(std::string_view text, std::size_t columns);

/// @brief Fills with spaces on the right, or on the left.
std::string pad_right(std::string text, std::size_t columns);
std::string pad_left(std::string text, std::size_t columns);

/// @brief Wraps at spaces; every line but the first is indented. Ends with a line break. Width 0: one line.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

/// @brief 12345 as "12,345"; from ten million on as "12.3M", "4.5G" and so on.
std::string count_text(std::uint64_t count);

/// @brief With one decimal; "0.0" for 0 / 0.
std::string ratio_text(std::uint64_t numerator, std::uint64_t denominator);

/// @brief "(16,16)", "256": without the trailing dimensions of 1.
std::string shape_text(const std::array<unsigned, 3>& shape);

/// Source lines by file and number. Files are read once.
class Sources {
 public:
  explicit Sources(std::filesystem::path root) : root_(std::move(root)) {}

  /// @brief The line with tabs turned into spaces; empty if there is no such file or line.
  const std::string& line(const std::string& file, int number);

 private:
  std::filesystem::path root_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace simt::report
