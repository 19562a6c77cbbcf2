#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace course::grading {

/// @brief The end of what a program printed, in bounded memory, however much it prints.
class PrintedTail {
 public:
  void append(std::string_view text);
  void clear();

  /// @brief The last lines, at most kLines of kColumns; control characters are dropped. Empty if nothing was
  /// printed.
  std::string lines() const;

  static constexpr std::size_t kBytes = std::size_t{16} * 1024;
  static constexpr std::size_t kLines = 20;
  static constexpr std::size_t kColumns = 200;

 private:
  std::string text_;
  std::size_t dropped_ = 0;
};

}  // namespace course::grading
