#pragma once
/// @file
/// Text for people: wrapped, coloured where there is a terminal, plain where there is none.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace course::cli {

enum class Style { plain, good, bad, note, strong };

/// Standard output as it is at the start of the program.
class Terminal {
 public:
  /// Looks at stdout, stderr, NO_COLOR, TERM and COLUMNS.
  Terminal();

  /// A screen of which only these two things are known; it shows no bar.
  Terminal(std::size_t width, bool colours) : colours_(colours), width_(width) {}

  /// @brief The text with escape codes around it, if stdout is a terminal and NO_COLOR is not set.
  std::string paint(Style style, std::string_view text) const;

  /// @brief Whether paint() paints.
  bool colours() const { return colours_; }

  /// @brief Columns to fill: the terminal's, at most 80; 80 where there is no terminal.
  std::size_t width() const { return width_; }

  /// @brief Shows a bar on stderr if that is a terminal, in place of the one before.
  /// `total` 0: the amount of work is not known, and only the words are shown.
  void show_progress(std::string_view words, std::size_t done, std::size_t total) const;

  /// @brief Whether there is a screen for show_progress().
  bool shows_progress() const { return progress_; }

  /// @brief From now on the function is told of the work, in place of a bar.
  void tell_progress_to(
      std::function<void(std::string_view words, std::size_t done, std::size_t total)> listener) {
    listener_ = std::move(listener);
  }

  /// @brief Takes the bar away; nothing happens if there is none.
  void clear_progress() const;

 private:
  bool colours_ = false;
  bool progress_ = false;
  std::size_t width_ = 80;
  std::function<void(std::string_view, std::size_t, std::size_t)> listener_;
  mutable bool shown_ = false;
};

/// @brief Columns that UTF-8 text takes in a terminal: two for each character of double width, else one.
std::size_t columns_of(std::string_view text);

/// @brief Wraps at spaces so that no line is longer than `width` columns, each line indented by `indent`
/// spaces. Line breaks in the text stay. A line that itself begins with spaces is code: it is cut,
/// and ends with "...". A word longer than a line is broken.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace course::cli
