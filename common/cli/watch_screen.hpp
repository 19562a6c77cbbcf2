#pragma once
/// @file
/// Where `watch` writes: a terminal that is cleared and drawn again, or plain text that goes on and on.

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/watch_view.hpp"

namespace course::cli {

/// Standard output has gone: the terminal was closed, or nobody reads the pipe any more.
class OutputGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was shown before stays in the terminal's scrollback: a new check pushes it out of the screen, and
/// only what belongs to the same check is drawn over.
class WatchScreen {
 public:
  WatchScreen();

  /// @brief Whether there is a screen to draw on: a terminal that can be cleared.
  bool is_terminal() const { return terminal_; }

  /// @brief Pushes what is on the screen into the scrollback, before the next draw().
  void begin_anew() { push_out_ = true; }

  /// @brief Draws the screen at its present size; nothing happens without a terminal.
  void draw(const WatchView& view);

  /// @brief Without a terminal, writes the result as one block.
  void write_block(const WatchView& view);

  /// @brief Without a terminal, writes a sentence.
  void write_line(const std::string& sentence);

  /// @brief Puts the cursor below what was drawn, for whoever writes next.
  void leave();

 private:
  bool terminal_ = false;
  bool push_out_ = true;
  bool drawn_ = false;
  bool block_written_ = false;
  std::size_t lines_ = 0;  ///< that were drawn; 0: not known what is there
};

/// @brief What a command prints on standard output and standard error, in place of printing it. What it
/// throws is told as a sentence.
std::string printed_by(const std::function<void()>& command);

}  // namespace course::cli
